//! Retry-After with backon as the documentation of `adjust` shows it.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::{Client, StatusCode, header::HeaderMap};
use retrygate_interop::asked;

#[derive(Debug)]
enum Failure {
    Refused(HeaderMap),
    Broken,
}

async fn call(client: &Client, method: reqwest::Method, url: &str) -> Result<(), Failure> {
    let answer = client.request(method, url).send().await.map_err(|_| Failure::Broken)?;
    if answer.status() != StatusCode::OK {
        return Err(Failure::Refused(answer.headers().clone()));
    }
    answer.bytes().await.map_err(|_| Failure::Broken)?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (method, url) = asked();
    let client = Client::new();
    (|| call(&client, method.clone(), &url))
        .retry(ExponentialBuilder::default())
        .adjust(|failure, wait| match failure {
            Failure::Refused(headers) => match headers.get("Retry-After") {
                Some(asked) => {
                    let seconds = asked.to_str().unwrap_or("0").parse::<u64>().unwrap_or(0);
                    Some(Duration::from_secs(seconds))
                }
                None => wait,
            },
            Failure::Broken => wait,
        })
        .await
}
