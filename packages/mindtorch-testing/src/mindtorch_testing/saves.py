"""Processes killed while they save checkpoints: is what lies there afterwards whole, and nothing else beside it?

`python -m mindtorch_testing.saves --count 200 --write PAGE` kills that many. Each saves the same checkpoint again and again,
every time with another number in all of its elements, until it is killed at a moment drawn at random. The checkpoint must
then load and hold one number throughout, that of the last save which returned or of the one under way. What killed savers
left behind is gone after the first save of another process.
"""

from __future__ import annotations

import collections
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindtorch as mt
from mindtorch.distributed import checkpoint
from mindtorch_testing import reports

ELEMENTS, TENSORS = 50_000, 4
SECONDS = 60
"""After which a saver that has saved nothing hangs."""


def _state(number: int) -> dict[str, mt.Tensor]:
    return {f"layer{place}": mt.full((ELEMENTS,), float(number)) for place in range(TENSORS)}


def _save(folder: Path, number: int) -> None:
    mt.save(_state(number), folder / "model.pt")


def _save_legacy(folder: Path, number: int) -> None:
    mt.save(_state(number), folder / "model.pt", _use_new_zipfile_serialization=False)


def _load(folder: Path) -> dict[str, mt.Tensor]:
    found: dict[str, mt.Tensor] = mt.load(folder / "model.pt")
    return found


def _save_distributed(folder: Path, number: int) -> None:
    checkpoint.save(_state(number), checkpoint_id=str(folder / "model"), no_dist=True)


def _load_distributed(folder: Path) -> dict[str, mt.Tensor]:
    found = _state(-1)
    checkpoint.load(found, checkpoint_id=str(folder / "model"), no_dist=True)
    return found


def _save_safetensors(folder: Path, number: int) -> None:
    writer = checkpoint.HuggingFaceStorageWriter(str(folder / "model"))
    checkpoint.save(_state(number), storage_writer=writer, no_dist=True)


def _load_safetensors(folder: Path) -> dict[str, mt.Tensor]:
    found = _state(-1)
    checkpoint.load(found, storage_reader=checkpoint.HuggingFaceStorageReader(str(folder / "model")), no_dist=True)
    return found


KINDS: dict[str, tuple[Callable[[Path, int], None], Callable[[Path], dict[str, mt.Tensor]]]] = {
    "torch.save": (_save, _load),
    "torch.save, the older format": (_save_legacy, _load),
    "torch.distributed.checkpoint": (_save_distributed, _load_distributed),
    "torch.distributed.checkpoint, safetensors": (_save_safetensors, _load_safetensors),
}


def _saver(save: Callable[[Path, int], None], folder: Path, first: int, told: int) -> None:
    """Save until killed, telling the number of every save that returned."""
    number = first
    while True:
        save(folder, number)
        os.write(told, number.to_bytes(8, "little"))
        number += 1


def _killed(save: Callable[[Path, int], None], folder: Path, first: int, wait: float) -> int:
    """Kill a saver some time after its first save; return the number of the last one that returned, -1 for a hang."""
    hear, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(hear)
            _saver(save, folder, first, told)
        finally:  # what ended it is told by the status, which the parent reads
            os._exit(1)
    os.close(told)
    ready, _, _ = select.select([hear], [], [], SECONDS)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(hear, "rb") as stream:
        heard = stream.read()
    if not ready or os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        return -1
    return int.from_bytes(heard[-8:], "little")


def problem_of(load: Callable[[Path], dict[str, mt.Tensor]], folder: Path, last: int) -> str:
    """Say what is wrong with the checkpoint after a saver whose last save was `last` was killed; empty when nothing is."""
    try:
        state = load(folder)
    except (Exception, checkpoint.CheckpointException) as error:  # noqa: BLE001  # whatever loading raises is a finding
        return f"does not load: {type(error).__name__}: {error}"
    numbers = {float(number) for tensor in state.values() for number in (tensor.min(), tensor.max())}
    if len(state) != TENSORS:
        return f"has {len(state)} tensors"
    return "" if numbers in ({float(last)}, {float(last + 1)}) else f"holds {sorted(numbers)} after save {last}"


def run(count: int, seed: int = 0, kinds: list[str] | None = None) -> dict[str, Any]:
    """Kill `count` savers, of all kinds in turn."""
    source = random.Random(seed)
    counts: collections.Counter[str] = collections.Counter()
    findings: list[str] = []
    names = kinds or list(KINDS)
    with tempfile.TemporaryDirectory() as root:
        folders = [Path(root) / str(place) for place in range(len(names))]
        listed = []
        for name, folder in zip(names, folders, strict=True):
            folder.mkdir()
            KINDS[name][0](folder, 0)
            listed.append(_files(folder))
        for kill in range(count):
            name, folder = names[kill % len(names)], folders[kill % len(names)]
            save, load = KINDS[name]
            last = _killed(save, folder, 1000 * (kill + 1), source.random() * 0.05)
            problem = problem_of(load, folder, last) if last >= 0 else "the saver hung or ended by itself"
            counts[name] += 1
            if problem:
                findings.append(f"{name}, kill {kill}: {problem}")
        for name, folder, before in zip(names, folders, listed, strict=True):
            _save_anew(KINDS[name][0], folder)
            if _files(folder) != before:
                findings.append(f"{name}: left {sorted(_files(folder) ^ before)}")
    return {"count": count, "seed": seed, "counts": dict(counts), "findings": findings}


def _save_anew(save: Callable[[Path, int], None], folder: Path) -> None:
    """Save in a process of its own: one looks once into a folder for what killed ones left there."""
    program = (
        f"import pathlib; from mindtorch_testing import saves; saves.{save.__name__}(pathlib.Path({str(folder)!r}), 1)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def page(result: dict[str, Any]) -> str:
    """The page for `docs/status`."""
    text = (
        f"{result['count']} processes killed at random moments while they saved, from seed {result['seed']}, by "
        f"`python -m mindtorch_testing.saves --count {result['count']} --write docs/status/saves.md`. Afterwards the "
        "checkpoint must load and hold the numbers of one save throughout, the last one or the one under way, and the "
        "first save of another process must leave no file of a killed one."
    )
    return reports.page("Killed savers", text, ("saved by", "killed"), result["counts"].items(), result["findings"])


def main() -> int:
    """Run the command line; 1 when something was found."""
    parser = reports.parser(__doc__, counted="count", count=200)
    parser.add_argument("--kind", action="append", choices=KINDS, help="only these, repeatable")
    arguments = parser.parse_args()
    result = run(arguments.count, arguments.seed, arguments.kind)
    return reports.conclude(result, result["findings"], page(result), arguments.write)


if __name__ == "__main__":
    sys.exit(main())
