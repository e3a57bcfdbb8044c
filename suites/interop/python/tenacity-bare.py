import requests
from tenacity import retry


@retry
def call(method, url):
    requests.request(method, url).raise_for_status()
