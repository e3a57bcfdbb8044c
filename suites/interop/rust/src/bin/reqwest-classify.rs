//! reqwest's own retries, as its documentation shows them: GET after 503.

use reqwest::{Client, Method, StatusCode, retry};
use retrygate_interop::asked;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), reqwest::Error> {
    let (method, url) = asked();
    let retries = retry::for_host("127.0.0.1").classify_fn(|answer| match (answer.method(), answer.status()) {
        (&Method::GET, Some(StatusCode::SERVICE_UNAVAILABLE)) => answer.retryable(),
        _ => answer.success(),
    });
    let client = Client::builder().retry(retries).build()?;
    client.request(method, url).send().await?.error_for_status()?.bytes().await?;
    Ok(())
}
