"""A client that keeps the strict contract, with nothing but the standard library.

4 attempts, exponential backoff with full jitter, Retry-After kept in both forms, 25 s for the whole call.
"""

import email.utils
import http.client
import os
import random
import signal
import sys
import time
import urllib.error
import urllib.request

TRANSIENT = {429, 500, 502, 503, 504}
ATTEMPTS, BASE, CAP, WITHIN, TIMEOUT = 4, 0.5, 8.0, 25.0, 4.0


def told(headers):
    """How long the server asked to wait; 0 if it did not."""
    value = (headers or {}).get("Retry-After", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def late(_signal, _frame):
    raise TimeoutError("the attempt took too long")


signal.signal(signal.SIGALRM, late)


def attempt(url):
    """One attempt: what came of it, whether it may be repeated, and after how long at least."""
    signal.setitimer(signal.ITIMER_REAL, TIMEOUT)  # a socket's own limit starts anew with each byte
    try:
        with urllib.request.urlopen(url) as answer:
            answer.read()
            return str(answer.status), False, 0.0
    except urllib.error.HTTPError as e:
        return str(e.code), e.code in TRANSIENT, told(e.headers)
    except (OSError, http.client.HTTPException) as e:
        return repr(e), True, 0.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def call(url):
    deadline = time.monotonic() + WITHIN
    for retry in range(ATTEMPTS):
        result, again, least = attempt(url)
        wait = max(least, random.uniform(0, min(CAP, BASE * 2**retry)))
        if not again or retry == ATTEMPTS - 1 or time.monotonic() + wait + TIMEOUT > deadline:
            return result
        time.sleep(wait)


if __name__ == "__main__":
    result = call(os.environ["RETRYGATE_URL"] + "/driver/status")
    print(result)
    sys.exit(0 if result == "200" else 1)
