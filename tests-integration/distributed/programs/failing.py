"""End as told. Arguments: library, file, how rank 1 ends."""

import os
import signal
import sys
import time
from pathlib import Path

library, target, ending = sys.argv[1:4]
print(f"{library} at port {os.environ['MASTER_PORT']}", flush=True)


WAITING = Path(f"{target}.waiting")


def waits():
    """Do not end."""
    WAITING.touch()
    time.sleep(600)


if os.environ["RANK"] == "1" and ending != "waits":
    while not WAITING.exists():  # a machine that is busy starts ranks long after each other
        time.sleep(0.01)
    if ending == "raises":
        raise ValueError("rank 1 has had enough")
    os.kill(os.getpid(), signal.SIGSEGV)
waits()
