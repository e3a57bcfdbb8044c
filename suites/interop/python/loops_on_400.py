"""The mobile app of the incident: takes 400 for a passing failure and sends the same thing again, at once, for ever."""

import os
import urllib.error
import urllib.request

while True:
    try:
        urllib.request.urlopen(os.environ["RETRYGATE_URL"] + "/driver/status", data=b'{"status":"on-shift"}').read()
        break
    except urllib.error.HTTPError as e:
        if e.code != 400:
            raise
