//! One request, as reqwest comes.

use retrygate_interop::asked;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), reqwest::Error> {
    let (method, url) = asked();
    let answer = reqwest::Client::new().request(method, url).send().await?;
    answer.error_for_status()?.bytes().await?;
    Ok(())
}
