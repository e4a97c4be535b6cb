"""Whether a value is of a type of TorchScript."""

import ast
from collections.abc import Callable
from typing import Any

from mindtorch.jit._source import dotted
from mindtorch_storage.tensor_base import TensorBase

_PLAIN: dict[str, type | tuple[type, ...]] = {
    "Tensor": TensorBase, "int": int, "float": float, "bool": bool, "str": str, "complex": complex, "NoneType": type(None),
    "None": type(None), "number": (int, float, complex),
}  # fmt: skip


def is_instance(value: Any, text: str, find: Callable[[str], Any]) -> bool:
    """Whether `value` is of the type of which `text` is the text, or of one of a list of types."""
    return _matches(value, ast.parse(text, mode="eval").body, find)


def _matches(value: Any, kind: ast.expr, find: Callable[[str], Any]) -> bool:
    if isinstance(kind, (ast.List, ast.Tuple)):
        return any(_matches(value, one, find) for one in kind.elts)
    if isinstance(kind, ast.Constant):
        return value is None
    if isinstance(kind, ast.Subscript):
        inner = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        return _matches_generic(value, dotted(kind.value) or "", inner, find)
    name = dotted(kind) or ""
    if name in _PLAIN:
        return isinstance(value, _PLAIN[name]) and not (name in ("int", "number") and isinstance(value, bool))
    return name.startswith("__torch__.") and isinstance(value, find(name))


def _matches_generic(value: Any, name: str, inner: list[ast.expr], find: Callable[[str], Any]) -> bool:
    if name == "Optional":
        return value is None or _matches(value, inner[0], find)
    if name == "Union":
        return any(_matches(value, one, find) for one in inner)
    if name == "List":
        return isinstance(value, list) and all(_matches(one, inner[0], find) for one in value)
    if name == "Dict":
        return isinstance(value, dict) and all(
            _matches(key, inner[0], find) and _matches(one, inner[1], find) for key, one in value.items()
        )
    if name == "Tuple":
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)
            and all(_matches(one, kind, find) for one, kind in zip(value, inner, strict=True))
        )
    return False
