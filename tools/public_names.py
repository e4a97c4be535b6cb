"""The public names of torch that MindTorch lacks, module by module.

    python tools/public_names.py check    no name is missing that the board does not list
    python tools/public_names.py write    write the board, `packages/mindtorch-full/tests/contract/missing_names.txt`;
                                          refuses where it would grow

Runs where torch can be imported. Public are a module's `__all__` and its public submodules; without `__all__`, what it
defines itself under a name without underscore; of a class, its attributes without underscore.
"""

import argparse
import importlib
import pkgutil
import sys
import types
import warnings
from pathlib import Path

BOARD = Path(__file__).parents[1] / "packages/mindtorch-full/tests/contract/missing_names.txt"
TREES = (
    "amp accelerator autograd backends compiler cpu cuda distributions export fft fft func functional futures fx hub jit "
    "library linalg masked monitor mps mtia multiprocessing nested nn onnx optim overrides package profiler quasirandom "
    "random return_types serialization signal sparse special storage testing torch_version types utils version xpu"
).split()
CLASSES = ("Tensor", "Generator", "Size", "device", "dtype", "nn.Module", "optim.Optimizer", "UntypedStorage")
NOTHING = object()
"""Stands for a name that is there and means None."""
HIDDEN = frozenset({"F", "TYPE_CHECKING", "annotations"})


def modules(tree: str) -> list[str]:
    """The public modules of a tree of torch that import without more, packages before what is in them."""
    found: list[str] = []
    try:
        top = importlib.import_module(f"torch.{tree}")
    except ImportError:
        return found
    found.append(tree)
    for one in pkgutil.iter_modules(getattr(top, "__path__", ())):
        if not one.name.startswith("_") and one.name not in ("tests", "tensorboard"):
            found += modules(f"{tree}.{one.name}")
    return found


def public(module: types.ModuleType) -> set[str]:
    """The public names of a module."""
    listed = getattr(module, "__all__", None)
    inside = {
        name
        for name, value in vars(module).items()
        if isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{name}"
    }
    own = set(listed or ())
    if listed is None:
        own = {name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__}
    return {name for name in own | inside if not name.startswith("_")} - HIDDEN


def attribute(root: types.ModuleType, path: str) -> object | None:
    """What a dotted name stands for, None where it is missing."""
    found: object = root
    for part in path.split(".") if path else ():
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")  # type: ignore[attr-defined]
            except (AttributeError, ImportError):
                return None
    return NOTHING if found is None else found


def missing() -> list[str]:
    """The dotted names that torch has and MindTorch has not; a module that is missing stands for all that is in it."""
    torch, ours = importlib.import_module("torch"), importlib.import_module("mindtorch")
    found: list[str] = [name for name in sorted(public(torch)) if attribute(ours, name) is None]
    for tree in TREES:
        for path in modules(tree):
            if attribute(ours, path) is None:
                found.append(path)
                continue
            for name in sorted(public(importlib.import_module(f"torch.{path}"))):
                if attribute(ours, f"{path}.{name}") is None and attribute(torch, f"{path}.{name}") is not None:
                    found.append(f"{path}.{name}")
    for path in CLASSES:
        kind, have = attribute(torch, path), attribute(ours, path)
        found += [f"{path}.{name}" for name in dir(kind) if not name.startswith("_") and not hasattr(have, name)]
    gone = {name for name in found if attribute(ours, name) is None}
    return sorted({name for name in found if not any(name.startswith(f"{one}.") for one in gone)})


def main() -> int:
    """Run the command; return 1 when a name is missing that was there."""
    parser = argparse.ArgumentParser(prog="public_names", description=__doc__)
    parser.add_argument("command", choices=("check", "write"))
    command = parser.parse_args().command
    warnings.simplefilter("ignore")
    found = missing()
    recorded = BOARD.read_text().split() if BOARD.exists() else found
    # What is missing of a module that was missing whole is nothing new.
    new = [name for name in found if not any(f"{name}.".startswith(f"{one}.") for one in recorded)]
    for name in new:
        print(f"missing, and was there: torch.{name}")
    if command == "write" and not new:
        BOARD.write_text("".join(f"{name}\n" for name in found))
    print(f"{len(found)} missing, {len(set(recorded) - set(found))} of the board found")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
