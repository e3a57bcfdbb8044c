import sys

import httpx

method, url = sys.argv[1:]
with httpx.Client(transport=httpx.HTTPTransport(retries=3)) as client:
    client.request(method, url).raise_for_status()
