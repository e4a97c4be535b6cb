"""`torch.linalg`, `torch.special`, `torch.fft`: names over rows of the op table, bound when they are first asked for."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from mindtorch._naming import torch_name
from mindtorch_dispatch.call import function
from mindtorch_dispatch.table import find_packet


@functools.cache
def _table() -> dict[str, tuple[str, ...]]:
    text = files("mindtorch.data").joinpath("op_namespaces.toml").read_text(encoding="utf-8")
    return {name: tuple(entry["names"]) for name, entry in tomllib.loads(text).items()}


def operator_of(namespace: str, name: str) -> str | None:
    """The operator a name stands for: `linalg_inv`, or the plain one where both are the same function."""
    if name not in _table()[namespace]:
        return None
    return next((op for op in (f"{namespace}_{name}", name) if find_packet(op) is not None), None)


def available(namespace: str) -> list[str]:
    """The names of a namespace whose operators exist."""
    return [name for name in _table()[namespace] if operator_of(namespace, name) is not None]


def module_functions(scope: dict[str, Any], *hidden: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a namespace module; its `__all__` names all that is there but `hidden`."""
    module = scope["__name__"]
    namespace = module.rpartition(".")[2]

    def __getattr__(name: str) -> Any:
        operator = operator_of(namespace, name)
        if operator is None:
            raise AttributeError(f"module {torch_name(module)!r} has no attribute {name!r}")
        scope[name] = value = function(operator)
        if operator.startswith(f"{namespace}_"):
            value.__module__ = f"torch._C._{namespace}"  # where pickles look for it
        return value

    def __dir__() -> list[str]:
        return sorted({*scope, *available(namespace)})

    scope["__all__"] = sorted({*scope.get("__all__", ()), *available(namespace)} - {*hidden})
    return __getattr__, __dir__
