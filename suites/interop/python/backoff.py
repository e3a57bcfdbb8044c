"""Retries a GET of URL after each of the waits (seconds) given; "date" and "early" wait as Retry-After says, early by 2 s."""
import datetime
import email.utils
import sys
import time
import urllib.error
import urllib.request

url, waits = sys.argv[1], sys.argv[2:]
for wait in waits + [None]:
    try:
        urllib.request.urlopen(url, timeout=30).read()
        break
    except urllib.error.HTTPError as e:
        if wait is None or e.code == 400:
            sys.exit(1)
        if wait in ("date", "early"):
            after = e.headers["Retry-After"]
            if not after.isdigit():
                until = email.utils.parsedate_to_datetime(after) - datetime.datetime.now(datetime.timezone.utc)
                after = until.total_seconds() - (2 if wait == "early" else 0)
            time.sleep(max(0, float(after)))
        else:
            time.sleep(float(wait))
