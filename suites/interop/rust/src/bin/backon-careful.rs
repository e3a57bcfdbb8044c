//! backon with jitter, for failures that may pass, with limits of time and Retry-After in seconds.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::{Client, Method, header::RETRY_AFTER};
use retrygate_interop::asked;

/// What is left of a failed attempt: whether it may pass, and for how long the server asks to be left alone.
#[derive(Debug)]
struct Failure {
    passing: bool,
    asked: Option<Duration>,
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        Failure { passing: !error.is_redirect(), asked: None }
    }
}

async fn call(client: &Client, method: Method, url: &str) -> Result<(), Failure> {
    let answer = client.request(method, url).send().await?;
    let (status, header) = (answer.status(), answer.headers().get(RETRY_AFTER).cloned());
    answer.bytes().await?; // of a failed answer too: then its connection can be used again
    if status.is_success() {
        return Ok(());
    }
    let seconds = header.and_then(|value| value.to_str().ok()?.parse().ok());
    Err(Failure {
        passing: matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504),
        asked: seconds.map(Duration::from_secs),
    })
}

/// The longer of the wait that is due and the one asked for; none once no attempt is left, or where too long a one is asked for.
fn patience(failure: &Failure, due: Option<Duration>) -> Option<Duration> {
    let wait = due?.max(failure.asked.unwrap_or_default());
    (wait <= Duration::from_secs(10)).then_some(wait)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (method, url) = asked();
    let client = Client::builder().timeout(Duration::from_secs(5)).build()?;
    let backoff = ExponentialBuilder::default().with_min_delay(Duration::from_millis(500)).with_jitter();
    (|| call(&client, method.clone(), &url)).retry(backoff).when(|failure| failure.passing).adjust(patience).await
}
