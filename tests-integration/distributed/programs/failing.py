"""End as told. Arguments: library, file, how rank 1 ends."""

import os
import signal
import sys
import time

library, target, ending = sys.argv[1:4]
print(f"{library} at port {os.environ['MASTER_PORT']}", flush=True)


def waits():
    """Do not end."""
    time.sleep(600)


if os.environ["RANK"] == "1" and ending == "raises":
    raise ValueError("rank 1 has had enough")
if os.environ["RANK"] == "1" and ending == "is killed":
    os.kill(os.getpid(), signal.SIGSEGV)
waits()
