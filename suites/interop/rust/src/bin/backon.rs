//! backon's defaults around reqwest, whose every error is retried.

use backon::{ExponentialBuilder, Retryable};
use reqwest::{Client, Error};
use retrygate_interop::asked;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (method, url) = asked();
    let client = Client::new();
    let call = || async {
        let answer = client.request(method.clone(), &url).send().await?;
        answer.error_for_status()?.bytes().await
    };
    call.retry(ExponentialBuilder::default()).await?;
    Ok(())
}
