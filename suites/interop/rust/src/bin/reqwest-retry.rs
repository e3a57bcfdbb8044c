//! reqwest-retry's defaults with three retries.

use reqwest::Client;
use reqwest_middleware::{ClientBuilder, Error};
use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};
use retrygate_interop::asked;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (method, url) = asked();
    let policy = ExponentialBackoff::builder().build_with_max_retries(3);
    let client = ClientBuilder::new(Client::new()).with(RetryTransientMiddleware::new_with_policy(policy)).build();
    client.request(method, url).send().await?.error_for_status()?.bytes().await?;
    Ok(())
}
