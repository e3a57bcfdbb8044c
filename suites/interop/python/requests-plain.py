import sys

import requests

method, url = sys.argv[1:]
requests.request(method, url).raise_for_status()
