import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry


def call(method, url):
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(total=3, backoff_factor=1, status_forcelist=[429, 500, 502, 503, 504])))
    session.request(method, url).raise_for_status()
