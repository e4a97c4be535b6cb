"""The first thing that a program makes on an NPU may be anything: each way starts the backend in a process of its own."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import simulator

FIRST = {
    "a storage": 'torch.UntypedStorage(4, device="npu").device',
    "a checkpoint": 'torch.load(saved(), map_location="npu").device',
    "a checkpoint of an NPU": 'torch.load(saved(), map_location="npu:0").device',
    "a factory": 'torch.ones(2, device="npu").device',
    "a copy": 'torch.ones(2).to("npu").device',
    "a module": "next(torch.nn.Linear(2, 2).npu().parameters()).device",
    "a module from meta": 'torch.nn.Linear(2, 2, device="meta").to_empty(device="npu").weight.device',
    "a generator": 'torch.Generator("npu").device',
}
START = """
import io
import mindtorch as torch

def saved():
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    return file

print({expression})
"""


@pytest.mark.parametrize("what", FIRST)
def test_the_first_use_of_a_device(what):
    environment = {**os.environ, simulator.VARIABLE: "Ascend910B3:2,memory=64MiB"}
    program = START.replace("{expression}", FIRST[what])
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("npu:0", "npu")
