import httpx


def call(method, url):
    with httpx.Client(transport=httpx.HTTPTransport(retries=3)) as client:
        client.request(method, url).raise_for_status()
