"""Posts an event to a customer's webhook, with retries as they are often written."""

import sys

import requests
from tenacity import retry, stop_after_attempt, wait_fixed


@retry(stop=stop_after_attempt(10), wait=wait_fixed(0.5))
def deliver(event):
    requests.post(sys.argv[1], json=event).raise_for_status()


deliver({"event": "order.paid", "order": 4711})
