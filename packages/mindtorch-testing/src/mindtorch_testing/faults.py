"""Faults of the simulated device while a model is trained: does each surface as what it is, and what of the process then?

`python -m mindtorch_testing.faults --count 1000 --write PAGE` trains a small model once per fault, each time in a process
of its own. What can be survived must be: the training then runs again and gives the undisturbed losses, and the device's
memory and descriptors are given back. Where the device is of no use any more the process must say so when it goes on.
"""

from __future__ import annotations

import collections
import gc
import importlib
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from typing import Any

import mindtorch as mt
from mindtorch_testing import reports

SETTINGS = "Ascend910B3:1,memory=512MiB"
VARIABLE = "MINDTORCH_NPU_SIMULATOR"
SECONDS = 120
ROWS, WIDTH, CLASSES, STEPS = 6, 8, 4, 2
PRELOADED = (
    "mindtorch_npu.backend", "mindtorch_npu.simulator.library", "mindtorch_cpu.ops", "mindtorch.npu", "mindtorch.optim",
    "mindtorch.nn.functional", "scipy.special",
)  # fmt: skip
MALLOC, COPY = "rt.malloc_align32", "rt.memcpy_async"
NO_MEMORY, REFUSED, FAILED, EXCEPTION, LOST, DRIVER = 207001, 161002, 561000, 507015, 507010, 507899
KINDS = ("memory once", "memory for good", "refused", "launch", "exception", "copy", "lost", "slow")


def train() -> list[float]:
    """Train on the device and return the losses."""
    mt.manual_seed(0)
    layers = mt.nn
    model = layers.Sequential(
        layers.Linear(WIDTH, 16), layers.GELU(), layers.LayerNorm(16), layers.Linear(16, CLASSES)
    ).to("npu")
    optimizer = mt.optim.AdamW(model.parameters(), lr=1e-2)
    inputs = mt.randn(ROWS, WIDTH).to("npu")
    targets = (mt.arange(ROWS) % CLASSES).to("npu")
    losses = []
    for _ in range(STEPS):
        loss = layers.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _machine(settings: str) -> Any:
    os.environ[VARIABLE] = settings
    return importlib.import_module("mindtorch_npu.simulator").replace(settings)


def in_child(work: Callable[[], Any]) -> Any:
    """Return what `work` returns in a forked process; a string when that process dies or takes too long."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os.close(receive)
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001 - told to the parent, which judges it
            answer = f"{type(error).__name__}: {error}"
        with os.fdopen(send, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else f"the process ended with status {status}"


def _undisturbed() -> dict[str, Any]:
    machine = _machine(SETTINGS)
    losses = train()
    return {"losses": losses, "calls": dict(machine.faults.calls)}


def choose(source: random.Random, calls: dict[str, int]) -> dict[str, Any]:
    """Return a fault: its kind, the call it strikes, which of them, and the code it gives."""
    kind = source.choice(KINDS)
    planned = [name for name in calls if name.endswith("GetWorkspaceSize")]
    started = [name for name in calls if name.startswith("aclnn") and not name.endswith("GetWorkspaceSize")]
    where, code = {
        "memory once": ([MALLOC], NO_MEMORY),
        "memory for good": ([MALLOC], NO_MEMORY),
        "refused": (planned, REFUSED),
        "launch": (started, FAILED),
        "exception": ([name for name in calls if name.startswith("run.")], EXCEPTION),
        "copy": ([COPY], DRIVER),
        "lost": ([COPY, *started], LOST),
        "slow": ([COPY], 0),
    }[kind]
    call = source.choice(sorted(where))
    return {"kind": kind, "call": call, "number": source.randrange(calls[call]), "code": code}


def strike(fault: dict[str, Any], expected: list[float]) -> str:
    """Train with the fault and return what was wrong, "" for nothing."""
    slow = fault["kind"] == "slow"
    machine = _machine(SETTINGS + (f",delay={0.0005 * (1 + fault['number'] % 4)}" if slow else ""))
    if not slow:
        count = 0 if fault["kind"] == "memory for good" else 1
        machine.faults.add(fault["call"], fault["code"], after=fault["number"], count=count)
    try:
        losses, error = train(), None
    except RuntimeError as raised:
        losses, error = [], raised.with_traceback(None)
    if slow or fault["kind"] == "memory once":
        return "" if losses == expected else f"gave {losses} and {error!r}"
    if error is None:
        return f"nothing was raised, losses {losses}"
    return _surfaced(fault, error) or _afterwards(fault, machine, expected)


def _surfaced(fault: dict[str, Any], error: RuntimeError) -> str:
    text, name = str(error), type(error).__name__
    if fault["kind"] == "memory for good":
        well = isinstance(error, mt.OutOfMemoryError) and text.startswith("NPU out of memory. Tried to allocate")
    else:
        well = name == "AclError" and str(fault["code"]) in text and getattr(error, "code", None) == fault["code"]
    return "" if well else f"surfaced as {name}: {text[:200]}"


def _afterwards(fault: dict[str, Any], machine: Any, expected: list[float]) -> str:
    if fault["kind"] in ("exception", "lost"):
        try:
            train()
        except RuntimeError as error:
            return "" if str(fault["code"]) in str(error) or "507033" in str(error) else f"then said {error}"[:300]
        return "went on as if nothing had been"
    machine.faults.clear()
    again = train()
    if again != expected:
        return f"gave {again} afterwards"
    gc.collect()
    simulator = importlib.import_module("mindtorch_npu.simulator")
    library, stats = simulator.libraries(), mt.npu.memory_stats()
    left = [stats["allocation.all.current"], len(library.descriptors.live), len(library.executors)]
    return "" if left == [0, 0, 0] else f"left {left} blocks, descriptors, executors"


def run(count: int, seed: int = 0) -> dict[str, Any]:
    """Inject `count` faults and return how many there were of each kind, and the findings."""
    for name in PRELOADED:  # once, not in every process; the runtime is not initialised by it
        importlib.import_module(name)
    importlib.import_module("mindtorch_npu.simulator.kernels").table()
    plain = in_child(_undisturbed)
    if isinstance(plain, str):
        raise RuntimeError(f"the training does not run without a fault: {plain}")
    source = random.Random(seed)
    counts: collections.Counter[str] = collections.Counter()
    calls: set[str] = set()
    findings = []
    for _ in range(count):
        fault = choose(source, plain["calls"])
        problem = in_child(lambda fault=fault: strike(fault, plain["losses"]))
        counts[fault["kind"]] += 1
        calls.add(fault["call"])
        if problem:
            findings.append(f"{fault['kind']} in call {fault['number']} of {fault['call']}: {problem}")
    return {"count": count, "seed": seed, "counts": dict(counts), "calls": len(calls), "findings": findings}


MEANING = {
    "memory once": ("one allocation of the device fails", "the allocator gives its cache back and asks again"),
    "memory for good": ("every allocation fails from the n-th on", "`OutOfMemoryError`; usable when there is memory"),
    "refused": ("an operator refuses its arguments (161002)", "`AclError` with code and operator; usable"),
    "launch": ("an operator cannot be launched (561000)", "`AclError` with code and operator; usable"),
    "exception": ("a kernel faults on the device (507015)", "`AclError` at the next wait, and at every later one"),
    "copy": ("a copy fails in the driver (507899)", "`AclError` with code; usable"),
    "lost": ("the device stops answering (507010)", "`AclError` with code, and at every later call"),
    "slow": ("every task of a stream takes longer", "the same losses"),
}


def page(result: dict[str, Any]) -> str:
    """The page for `docs/status`."""
    text = (
        f"{result['count']} faults from seed {result['seed']} by `python -m mindtorch_testing.faults --count "
        f"{result['count']} --write docs/status/faults.md`, injected into {result['calls']} different calls of the "
        "simulated device while a small model is trained on it, each in a process of its own. Where the process stays "
        "usable the training runs again with the undisturbed losses, and no block, descriptor or executor is left."
    )
    rows = [(*MEANING[kind], result["counts"].get(kind, 0)) for kind in KINDS]
    header = ("fault", "what must come of it", "injected")
    return reports.page("Faults of the device", text, header, rows, result["findings"])


def main() -> int:
    """Run the command line; 1 when something was found."""
    arguments = reports.parser(__doc__, counted="count", count=1000).parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    result = run(arguments.count, arguments.seed)
    return reports.conclude(result, result["findings"], page(result), arguments.write)


if __name__ == "__main__":
    sys.exit(main())
