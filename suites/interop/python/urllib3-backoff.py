import urllib3


def call(method, url):
    retries = urllib3.Retry(total=4, backoff_factor=0.5, status_forcelist=[429, 500, 502, 503, 504])
    urllib3.PoolManager(retries=retries).request(method, url)
