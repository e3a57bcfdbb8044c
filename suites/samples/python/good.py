"""Posts an event to a customer's webhook: what may pass is tried four times, what will not pass is not."""

import email.utils
import signal
import sys
import time
import uuid

import requests
from tenacity import retry, retry_if_exception, stop_after_attempt, stop_before_delay, wait_random_exponential

TRANSIENT = {429, 500, 502, 503, 504}
backoff = wait_random_exponential(multiplier=1, max=10)  # full jitter below 1, 2, 4 s


def passing(error):
    """Whether the same request may fare better later."""
    if isinstance(error, requests.HTTPError):
        return error.response.status_code in TRANSIENT
    return isinstance(error, (requests.ConnectionError, requests.Timeout, TimeoutError))


def asked(error):
    """The wait that the receiver asked for, in seconds; 0 without one."""
    value = error.response.headers.get("Retry-After", "") if isinstance(error, requests.HTTPError) else ""
    if value.isdigit():
        return int(value)
    try:
        return email.utils.parsedate_to_datetime(value).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0


def wait(state):
    return max(asked(state.outcome.exception()), backoff(state))


def late(_signal, _frame):
    raise TimeoutError("the attempt took too long")


signal.signal(signal.SIGALRM, late)
session = requests.Session()
session.max_redirects = 10


@retry(retry=retry_if_exception(passing), wait=wait, stop=stop_after_attempt(4) | stop_before_delay(25), reraise=True)
def deliver(event, key):
    signal.setitimer(signal.ITIMER_REAL, 5)  # the timeout of requests starts anew with each byte that comes
    try:
        # The key tells the receiver that an attempt is not a second event.
        session.post(sys.argv[1], json=event, headers={"Idempotency-Key": key}).raise_for_status()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


deliver({"event": "order.paid", "order": 4711}, str(uuid.uuid4()))
