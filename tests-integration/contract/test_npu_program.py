"""The BERT example on the simulated Ascend device: the same losses as on the CPU, and nothing left on the device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="oracle")
pytest.importorskip("mindtorch_npu")

ROOT = Path(__file__).parents[2]
STEPS = 20
PROGRAM = """
import gc, json, sys
import torch
from data import Corpus
from models import make_config, make_model

def losses(device):
    corpus = Corpus(vocabulary_size=1000, length=32, device=device)
    config = make_config("small", len(corpus.tokenizer.vocabulary))
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0  # each device has a random stream of its own
    model = make_model(config, 0).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    batches, found = corpus.batches(8, 0), []
    for _ in range(int(sys.argv[1])):
        loss = model(**next(batches).inputs()).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        found.append(loss.item())
    return found

from mindtorch_dispatch.table import kernels
import mindtorch_cpu.ops
expected = losses("cpu")
on_host = []

def told(name, out):
    return "counter" if name == "add.Tensor" and out.shape == () else name

for name, kernel in kernels["cpu"].items():
    kernel.fn = (lambda fn, name: lambda *values: (on_host.append(told(name, values[0])), fn(*values))[1])(kernel.fn, name)
found = losses("npu")
gc.collect()
from mindtorch_npu import simulator
from mindtorch_npu.backend import launches
library, stats = simulator.libraries(), torch.npu.memory_stats()
torch.npu.empty_cache()
print(json.dumps({
    "expected": expected, "found": found, "on_host": sorted(set(on_host)), "launches": sum(launches.values()),
    "allocated": stats["allocation.all.current"], "active": stats["active_bytes.all.current"],
    "given": stats["allocated_bytes.all.allocated"], "taken_back": stats["allocated_bytes.all.freed"],
    "reserved": torch.npu.memory_reserved(), "blocks": len(simulator.machine().memories[0]),
    "descriptors": len(library.descriptors.live), "executors": len(library.executors),
}))
"""

MAY_RUN_ON_HOST = {
    "randperm.generator", "rand.generator", "randint.low_generator", "_index_integer", "lt.Tensor", "ge.Tensor", "lt.Scalar",
    "ge.Scalar", "bitwise_and.Tensor", "bitwise_not", "masked_fill.Scalar", "where.self", "where.ScalarSelf", "where.ScalarOther",
    "where.Scalar", "ne.Scalar", "_to_copy", "normal_", "uniform_", "fill_.Scalar", "zero_", "zeros", "empty.memory_format",
    "ones", "arange", "arange.start", "clone", "copy_", "expand", "constant_pad_nd",
    "counter",
}  # fmt: skip
"""Kernels of making the data and the weights, which the program does on the CPU, and the optimizer's counters of steps,
which stay there as torch's do."""


@pytest.mark.slow
def test_training_on_the_device_is_training_on_the_cpu():
    paths = [str(ROOT / "examples" / "bert"), *(str(p) for p in sorted(ROOT.glob("packages/*/src")))]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "MINDTORCH_NPU_SIMULATOR": "Ascend910B3:1,memory=2GiB",
    }
    start = "import mindtorch_proxy; mindtorch_proxy.install()\n" + PROGRAM
    run = subprocess.run(
        [sys.executable, "-c", start, str(STEPS)], env=environment, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr[-3000:]
    seen = json.loads(run.stdout.splitlines()[-1])
    assert len(seen["found"]) == STEPS
    assert seen["found"] == pytest.approx(seen["expected"], abs=1e-4)
    assert seen["found"][-1] < seen["found"][0]
    assert set(seen["on_host"]) <= MAY_RUN_ON_HOST
    assert seen["launches"] > 100 * STEPS
    left = ("allocated", "active", "reserved", "blocks", "descriptors", "executors")
    assert {name: seen[name] for name in left} == dict.fromkeys(left, 0)
    assert seen["given"] == seen["taken_back"] > 0


@pytest.mark.slow
def test_the_example_trains_saves_and_reloads_on_the_device(tmp_path):
    paths = [str(p) for p in sorted(ROOT.glob("packages/*/src"))]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "MINDTORCH_NPU_SIMULATOR": "Ascend910B3:1,memory=2GiB",
    }
    command = [
        "run",
        str(ROOT / "examples" / "bert" / "train.py"),
        "--device",
        "npu",
        "--steps",
        "4",
        "--out",
        str(tmp_path),
    ]
    run = subprocess.run(
        [sys.executable, "-m", "mindtorch", *command], env=environment, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr[-3000:]
    for name in ("model.pt", "model.safetensors"):
        (line,) = [line for line in run.stdout.splitlines() if line.startswith(name)]
        assert line.endswith("reloaded; logits equal")
        assert list(tmp_path.rglob(name))
    assert (tmp_path / "loss.svg").read_text().startswith("<svg")


ARCHITECTURES = ROOT / "tests-integration" / "architectures"
GENERATE = "bert roberta gpt2 llama t5 bart whisper qwen2 mistral gemma electra opt".split()
ALONE = "distilbert vit clip albert".split()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*GENERATE, *ALONE])
def test_an_architecture_computes_and_generates_on_the_device_what_it_does_on_the_cpu(name):
    paths = [str(ARCHITECTURES), *(str(p) for p in sorted(ROOT.glob("packages/*/src")))]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "MINDTORCH_NPU_SIMULATOR": "Ascend910B3:1,memory=1GiB",
    }
    start = "import mindtorch_proxy; mindtorch_proxy.install()\nimport sys, device\ndevice.main(sys.argv[1:])"
    run = subprocess.run(
        [sys.executable, "-c", start, name], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    _, apart, *said = run.stdout.splitlines()[-1].split(maxsplit=2)
    assert float(apart) < 5e-5
    ways = ["greedy: same", "without cache: same", "beams: same"] if name in GENERATE else []
    assert ", ".join(said) == ", ".join(ways)
