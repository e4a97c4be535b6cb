"""`torch.manual_seed` seeds NPUs, too, whether they are used before it or after it."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import simulator

AFTER = """
import mindtorch as torch
torch.manual_seed(5)
torch.manual_seed(3)
print(torch.npu.initial_seed(), torch.rand(3, device="npu").tolist())
"""
BEFORE = """
import mindtorch as torch
torch.rand(3, device="npu")
torch.manual_seed(3)
print(torch.npu.initial_seed(), torch.rand(3, device="npu").tolist())
"""
OWN = """
import mindtorch as torch
torch.manual_seed(5)
torch.npu.manual_seed(3)
print(torch.npu.initial_seed(), torch.rand(3, device="npu").tolist())
"""
OF_ALL = """
import mindtorch as torch
torch.npu.manual_seed(5)
torch.manual_seed(3)
print(torch.npu.initial_seed(), torch.rand(3, device="npu").tolist())
"""
OTHER = OF_ALL.replace("manual_seed(3)", "manual_seed(4)")
STATE = """
import mindtorch as torch
torch.manual_seed(3)
state = torch.npu.get_rng_state()
torch.manual_seed(5)
torch.npu.set_rng_state(state)
print(torch.npu.initial_seed(), torch.rand(3, device="npu").tolist())
"""
HELD = """
import os, threading
import mindtorch as torch
from mindtorch_npu import generator
held, done = threading.Event(), threading.Event()
def hold():
    with generator._defaults.lock:
        held.set(); done.wait()
thread = threading.Thread(target=hold); thread.start(); held.wait()
if os.fork() == 0:
    torch.manual_seed(9)
    os._exit(0)
print(os.wait()[1]); done.set(); thread.join()
"""
RANDOM = """
import mindtorch as torch
torch.ones(1, device="npu")
print(torch.seed() == torch.npu.initial_seed(), torch.npu.initial_seed() == torch.initial_seed())
"""
WORKER = """
import os
import mindtorch as torch
torch.manual_seed(3)
expected = torch.rand(3, device="npu")
torch.manual_seed(3)
if os.fork() == 0:
    torch.manual_seed(9)  # as every worker of a data loader does
    os._exit(0)
print(os.wait()[1], torch.equal(torch.rand(3, device="npu"), expected))
"""


def said(program):
    environment = {**os.environ, simulator.VARIABLE: "Ascend910B3:2,memory=64MiB"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_every_order_of_seeding_and_first_use_starts_the_same_stream():
    after = said(AFTER)
    assert after.startswith("3 [")
    assert {said(program) for program in (BEFORE, OWN, OF_ALL, STATE)} == {after}
    assert said(OTHER).startswith("4 [")
    assert said(OTHER)[2:] != after[2:]


def test_a_seed_of_the_operating_system_is_that_of_all_devices():
    assert said(RANDOM) == "True True"


def test_a_forked_process_seeds_the_cpu_alone():
    assert said(WORKER) == "0 True"


def test_a_fork_while_another_thread_draws_leaves_the_child_free_to_seed():
    assert said(HELD) == "0"
