"""Runs a client, named first: one call with the method and the URL that follow, or without them a call for each line on standard
input, all side by side (retrygate verify --worker=shared)."""
import importlib
import os
import sys
import threading

sys.path.append(os.path.dirname(__file__))  # the clients stand beside this file
client, *request = sys.argv[1:]
call = importlib.import_module(client).call


def line(id, address):
    wrong = ""
    try:
        call("GET", address + "/driver/status")
    except Exception as e:
        wrong = " " + repr(e).replace("\n", " ")
    sys.stdout.write(f"{id}{wrong}\n")
    sys.stdout.flush()


if request:
    call(*request)
else:
    for words in sys.stdin:
        threading.Thread(target=line, args=words.split()).start()
