"""`torch._C._VariableFunctions`: the functions of the op table, under the names that generated code calls them by."""

from __future__ import annotations

from typing import Any

import mindtorch
from mindtorch.tensor.absent_ops import absent, names
from mindtorch_dispatch.call import function
from mindtorch_dispatch.table import packets


def _function(name: str) -> Any:
    found = absent(name, "functions") or getattr(mindtorch, name, None) or function(name)
    if found is None:
        raise AttributeError(f"'_VariableFunctionsClass' object has no attribute {name!r}")
    return found


class _WithFunctions(type):
    """The functions are members of the class, too: torch's pickles of a function ask the class for it."""

    def __getattr__(cls, name: str) -> Any:
        return _function(name)


class _VariableFunctionsClass(metaclass=_WithFunctions):
    """All functions over tensors; what `torch` has of them under the same name is the same object."""

    def __getattr__(self, name: str) -> Any:
        return _function(name)

    def __dir__(self) -> list[str]:
        return sorted({name for name, packet in packets.items() if packet.offers("function")} | names("functions"))


_VariableFunctions = _VariableFunctionsClass()
