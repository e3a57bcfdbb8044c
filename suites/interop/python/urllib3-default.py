import urllib3


def call(method, url):
    urllib3.PoolManager().request(method, url)
