"""How nodes, functions and types are written: the texts of graphs and the names in generated code."""

from __future__ import annotations

import builtins
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

from mindtorch import functional
from mindtorch_dispatch.call import make_form
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.table import find_packet

NATIVE_NAMESPACES = {"linalg_": "torch._C._linalg", "fft_": "torch._C._fft", "special_": "torch._C._special"}
"""Where torch keeps the functions whose names begin like this."""


def is_method_form(function: Any) -> bool:
    """Return whether `function` is an operator in the form that is a method of tensors."""
    packet = find_packet(getattr(function, "__name__", "")) if isinstance(function, native_path.types) else None
    return packet is not None and make_form(packet, True) is function


def _type_repr(obj: Any) -> str:
    """Return a type as people write it: builtins without their module, what is no class by its repr."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        return obj.__qualname__ if obj.__module__ == "builtins" else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, native_path.types):
        return obj.__name__
    return repr(obj)


def _get_qualified_name(func: Callable[..., Any]) -> str:
    """Return the dotted name under which generated code finds `func`.

    Raises:
        RuntimeError: the function says no module.
    """
    name = getattr(func, "__name__", None)
    if name is not None and getattr(builtins, name, None) is func:
        return name
    if isinstance(func, OpOverloadPacket | OpOverload):
        return f"torch.ops.{func!s}"
    if name is None:
        raise RuntimeError(f"Could not find the name of {func!r}")
    if is_method_form(func):
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        name = inspect.getsource(func).split("=")[0].strip()
    module = func.__module__
    if module == "torch" and name in functional.__all__ and getattr(functional, name) is func:
        module = "torch.functional"
    elif module in ("torch", "torch._ops"):
        module = next((home for start, home in NATIVE_NAMESPACES.items() if name.startswith(start)), "torch")
    elif module is not None and module.startswith("mindtorch.functions"):
        module = "torch.functional" if name in functional.__all__ else "torch"
    if module is None:
        raise RuntimeError(f"Could not find the module of {func!r}")
    return f"{module}.{name}"


def pretty_target(target: object) -> str:
    """Return a node's target as the text of a graph has it."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if module in ("builtins", "_operator") and hasattr(target, "__name__"):
        return f"{module.lstrip('_')}.{target.__name__}"
    return _get_qualified_name(target)  # type: ignore[arg-type]


def _format_arg(arg: object, max_list_len: float = math.inf) -> str:
    """Return an argument as the text of a graph has it: nodes as `%name`, strings bare."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, list | tuple):
        shown = [
            _format_arg(one, max_list_len) for one in arg[: len(arg) if max_list_len == math.inf else int(max_list_len)]
        ]
        text = ", ".join(shown)
        if len(arg) > max_list_len:
            text += f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{text}]"
        return f"({text}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{key}: {_format_arg(value, max_list_len)}" for key, value in arg.items()) + "}"
    if hasattr(arg, "_prepend") and hasattr(arg, "users"):  # a node
        return f"%{arg}"
    return str(arg)
