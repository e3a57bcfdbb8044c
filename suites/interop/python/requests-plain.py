import requests


def call(method, url):
    requests.request(method, url).raise_for_status()
