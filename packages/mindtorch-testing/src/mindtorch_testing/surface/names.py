"""Which names of torch are public, found in the torch that is installed."""

from __future__ import annotations

import importlib
import pkgutil
import types
from collections.abc import Iterator

OUTSIDE = (
    "torch.ao.nn.sparse", "torch.backends", "torch.contrib", "torch.cuda", "torch.csrc", "torch.distributed.benchmarks",
    "torch.distributed.elastic", "torch.distributed.rpc", "torch.jit", "torch.mps", "torch.mtia", "torch.onnx",
    "torch.testing", "torch.utils.benchmark", "torch.utils.bottleneck", "torch.utils.cpp_extension", "torch.utils.hipify",
    "torch.utils.tensorboard", "torch.utils.viz", "torch.xpu",
)  # fmt: skip
"""Trees whose modules drive other devices, compilers and processes; the modules at their heads are compared."""
SPECIAL = ("__call__", "__getitem__", "__init__")
"""Methods that programs call by syntax, so their parameters are part of the surface, too."""


def modules() -> list[str]:
    """Return the public modules of torch, packages before what is in them."""
    top = importlib.import_module("torch")
    return ["torch", *_below("torch", top)]


def _below(name: str, package: types.ModuleType) -> Iterator[str]:
    for one in pkgutil.iter_modules(getattr(package, "__path__", ())):
        path = f"{name}.{one.name}"
        if one.name.startswith("_") or path.startswith(tuple(f"{tree}." for tree in OUTSIDE)):
            continue
        try:
            module = importlib.import_module(path)
        except (ImportError, RuntimeError, AttributeError, OSError):
            continue  # needs what is not installed
        yield path
        yield from _below(path, module)


def public(module: types.ModuleType) -> list[str]:
    """Return the names that a module lists, or defines itself, without its modules."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        found = {name for name in listed if not name.startswith("_")}
    else:
        found = {name for name in vars(module) if not name.startswith("_")}
    if module.__name__ == "torch":
        found |= {name for name in dir(module) if not name.startswith("_")}
    return sorted(name for name in found if _belongs(module, name, listed is not None))


def _belongs(module: types.ModuleType, name: str, listed: bool) -> bool:
    value = getattr(module, name, None)
    if isinstance(value, types.ModuleType):
        return False
    home = getattr(value, "__module__", None)
    if isinstance(home, str):
        return home.split(".")[0] == "torch" if listed else home == module.__name__
    return listed or isinstance(value, int | float | str | tuple | frozenset)


def members(kind: type) -> list[str]:
    """Return the public names that a class defines itself, and those of its special methods."""
    return sorted(name for name in vars(kind) if not name.startswith("_") or name in SPECIAL)


def ours(name: str) -> types.ModuleType:
    """Return MindTorch's module of a name of torch; raises ImportError where it is missing."""
    return importlib.import_module("mindtorch" + name.removeprefix("torch"))


def classes() -> frozenset[str]:
    """Return the names of all public classes of torch."""
    found = set()
    for path in modules():
        module = importlib.import_module(path)
        found |= {name for name in public(module) if isinstance(getattr(module, name, None), type)}
    return frozenset(found - {"object"})
