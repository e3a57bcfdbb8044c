import requests
from google.api_core import exceptions, retry


@retry.Retry()
def call(method, url):
    answer = requests.request(method, url)
    if answer.status_code >= 400:
        raise exceptions.from_http_response(answer)
