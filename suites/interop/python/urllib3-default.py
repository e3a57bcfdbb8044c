import sys

import urllib3

method, url = sys.argv[1:]
urllib3.PoolManager().request(method, url)
