"""`python tests-integration/proxy/nests.py [--count N] [--write]`: random nests of the proxy, and what they leave behind.

Each sequence is one random nest per thread, in one to three threads at once: blocks, pairs of install and uninstall,
scopes, imports, exceptions through all of them. Afterwards `sys.modules`, `sys.meta_path` and the import functions must
be what they were, object by object. N sequences run in a process that imported the real torch before (where one can be
imported), and N in one that did not.
"""

from __future__ import annotations

import argparse
import builtins
import importlib
import json
import random
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import mindtorch_proxy as proxy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "proxy.md"
NAMES = ("torch", "torch.nn", "torch.nn.functional", "torch.utils.data", "torch.optim", "torch.linalg")
DEPTH = 3


class PlannedError(Exception):
    """Raised on purpose through every kind of block."""


def _torch_state() -> list[tuple[str, int]]:
    return [
        (name, id(module))
        for name, module in sys.modules.items()
        if name.startswith("torch") and name.split(".")[0] == "torch"
    ]


def _state() -> tuple[object, ...]:
    hooks = (builtins.__import__, importlib.import_module, importlib.util.find_spec)
    return (_torch_state(), list(sys.meta_path), hooks, proxy.is_installed())


def _check(rng: random.Random) -> None:
    name = rng.choice(NAMES)
    __import__(name)
    if sys.modules[name] is not sys.modules["mind" + name] or not proxy.is_installed():
        raise AssertionError(f"{name} is not MindTorch's")


def _check_scoped(rng: random.Random) -> None:
    found: dict[str, object] = {"__name__": "inside.module"}
    name = rng.choice(NAMES)
    exec(f"import {name}", found)  # the importer's name decides, so it gets one
    if found["torch"] is not sys.modules["mindtorch"]:
        raise AssertionError(f"{name} is not MindTorch's in the scope")


def _play(rng: random.Random, depth: int = 0) -> None:
    for _ in range(rng.randint(1, 3)):
        choice = rng.random()
        if choice < 0.3 and depth < DEPTH:
            with proxy.proxy(replace=True, blocked=["outside"] if rng.random() < 0.2 else ()):
                _check(rng)
                _play(rng, depth + 1)
        elif choice < 0.5 and depth < DEPTH:
            with proxy.proxy(packages=["inside"]):
                _check_scoped(rng)
                _play(rng, depth + 1)
        elif choice < 0.7:
            proxy.install(replace=True)
            try:
                _check(rng)
                if depth < DEPTH:
                    _play(rng, depth + 1)
            finally:
                proxy.uninstall()
        elif choice < 0.85:
            try:
                with proxy.proxy(replace=True):
                    raise PlannedError
            except PlannedError:
                continue
        else:
            raise PlannedError


def run(first: int, count: int) -> list[str]:
    """Play ``count`` sequences and return a line for each that left something behind."""
    before, failures = _state(), []

    def worker(seed: int) -> None:
        try:
            _play(random.Random(seed))
        except PlannedError:
            return
        except BaseException as error:  # noqa: BLE001 - reported below, with its seed
            failures.append(f"seed {seed}: {type(error).__name__}: {error}")

    for sequence in range(first, first + count):
        number = random.Random(sequence).choice([1, 1, 2, 3])
        threads = [threading.Thread(target=worker, args=(sequence * 10 + index,)) for index in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if _state() != before:
            failures.append(f"sequence {sequence}: not restored")
    return failures


def _child(first: int, count: int, real: bool) -> int:
    warnings.simplefilter("ignore", RuntimeWarning)  # of modules that hold the real torch, on every replacing
    loaded = "no torch imported before"
    if real:
        loaded = f"torch {importlib.import_module('torch').__version__} imported before"
    with proxy.proxy(replace=True):
        for name in NAMES:  # once, so that the sequences measure the proxy and not the loading of MindTorch
            importlib.import_module(name)
    print(json.dumps({"side": loaded, "count": count, "failures": run(first, count)}))
    return 0


def _page(sides: list[dict]) -> str:
    lines = [
        "# Random nests of the proxy",
        "",
        "Written by `python tests-integration/proxy/nests.py --write`: threads that turn the proxy on and off, enter scopes",
        "and leave them by exceptions; afterwards `sys.modules`, `sys.meta_path` and the import functions are compared with",
        "what they were, object by object.",
        "",
        "| process | sequences | not restored, or a wrong import |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {side['side']} | {side['count']} | {len(side['failures'])} |" for side in sides]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command; return 1 when a sequence left something behind."""
    parser = argparse.ArgumentParser(prog="nests", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--write", action="store_true", help="write docs/status/proxy.md")
    parser.add_argument("--side", choices=("real", "none"), help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help="number of the first sequence")
    args = parser.parse_args()
    if args.side:
        return _child(args.first, args.count, args.side == "real")
    sides = []
    kinds = ("real", "none") if proxy.find_real_torch() is not None else ("none",)
    for index, kind in enumerate(kinds):
        first = str(index * args.count)
        command = [sys.executable, __file__, "--side", kind, "--count", str(args.count), "--first", first]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        sides.append(json.loads(done.stdout.splitlines()[-1]))
        print(*sides[-1]["failures"][:20], sep="\n")
    print(_page(sides))
    if args.write:
        PAGE.write_text(_page(sides))
    return 1 if any(side["failures"] for side in sides) else 0


if __name__ == "__main__":
    sys.exit(main())
