import requests
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential


def passing(error):
    """Broken connections and statuses that may pass."""
    if isinstance(error, requests.HTTPError):
        return error.response.status_code in (429, 500, 502, 503, 504)
    return isinstance(error, (requests.ConnectionError, requests.Timeout))


@retry(retry=retry_if_exception(passing), stop=stop_after_attempt(4), wait=wait_random_exponential(multiplier=1, max=10))
def call(method, url):
    requests.request(method, url, timeout=5).raise_for_status()
