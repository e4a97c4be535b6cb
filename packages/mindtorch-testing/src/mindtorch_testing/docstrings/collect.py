"""Every example that torch's docstrings have, by the name that has it."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

OUTSIDE = (
    "torch._dynamo", "torch._export", "torch._functorch", "torch._higher_order_ops", "torch._inductor", "torch._native",
    "torch._numpy", "torch._refs", "torch._prims", "torch._decomp", "torch._vendor", "torch.ao", "torch.backends",
    "torch.cuda", "torch.distributed", "torch.export", "torch.fx.experimental", "torch.jit", "torch.monitor",
    "torch.mps", "torch.mtia", "torch.onnx", "torch.package", "torch.quantization", "torch.testing",
    "torch.utils._sympy", "torch.utils.benchmark", "torch.utils.bottleneck", "torch.utils.cpp_extension",
    "torch.utils.hipify", "torch.utils.tensorboard", "torch.xpu",
)  # fmt: skip
"""Modules for other devices, compilers and processes, where examples are no programs that run alone."""


def examples() -> dict[str, list[str]]:
    """Return the statements of each docstring, by one of the names it is found under."""
    warnings.simplefilter("ignore")  # of the many modules and attributes that are old
    torch = importlib.import_module("torch")
    for found in pkgutil.walk_packages(torch.__path__, "torch."):
        if not found.name.startswith(OUTSIDE) and not found.name.endswith("__main__"):
            try:
                importlib.import_module(found.name)
            except (ImportError, RuntimeError, AttributeError, OSError):
                continue  # needs what is not installed
    parser = doctest.DocTestParser()
    seen: dict[tuple[str, ...], str] = {}
    for name, text in sorted(_docstrings(torch), key=lambda pair: (len(pair[0]), pair[0])):
        try:
            statements = tuple(example.source for example in parser.get_examples(text))
        except ValueError:
            continue  # its lines are not indented as examples are
        if statements:
            seen.setdefault(statements, name)
    return {name: list(statements) for statements, name in sorted(seen.items(), key=lambda pair: pair[1])}


def _docstrings(torch: Any) -> Iterator[tuple[str, str]]:
    modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "torch"}
    for name, module in modules.items():
        if not isinstance(module, types.ModuleType) or name.startswith(OUTSIDE) or module.__name__ != name:
            continue
        for member, value in [("", module), *vars(module).items()]:
            if member and isinstance(value, types.ModuleType):
                continue
            path = f"{name}.{member}" if member else name
            yield from _of(path, value)
            if isinstance(value, type) and str(value.__module__).startswith("torch"):
                for attribute in dir(value):
                    yield from _of(f"{path}.{attribute}", getattr(value, attribute, None))


def _of(path: str, value: Any) -> Iterator[tuple[str, str]]:
    text = getattr(value, "__doc__", None)
    if isinstance(text, str) and ">>>" in text:
        yield path, text
