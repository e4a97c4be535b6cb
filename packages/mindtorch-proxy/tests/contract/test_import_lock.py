"""Threads that import MindTorch by both of its names at once: no order of theirs is a deadlock."""

import subprocess
import sys

import pytest

pytest.importorskip("mindtorch_storage.importing")  # the proxy alone has nothing that imports late

PROGRAM = """
import importlib._bootstrap
import threading
import time

import mindtorch_proxy

mindtorch_proxy.install()
import torch

within = threading.Event()
errors = []


def first():
    # As a module of MindTorch while its code runs, which names another module by the package's shown name.
    with importlib._bootstrap._ModuleLockManager("mindtorch.special"):
        within.set()
        time.sleep(0.3)  # the second thread is at its import by now
        import torch.special


def second():
    within.wait()
    import torch.special


def run(work):
    try:
        work()
    except BaseException as error:
        errors.append(error)


threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in (first, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(20)
assert not any(thread.is_alive() for thread in threads)
assert not errors, errors
assert torch.special.__name__ == "torch.special"
"""


def test_both_names_have_one_lock():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
