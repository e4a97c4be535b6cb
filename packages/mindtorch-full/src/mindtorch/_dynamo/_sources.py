"""Names of a graph's inputs: what the program calls the tensors that it is given, or finds in modules and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch._dynamo._signatures import signature_of


class Sources:
    """Names the tensors of a call of a function: by arguments, the module's state, closure and globals."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._call = function, args, kwargs
        self.names: dict[int, str] = {}
        self._looked = False
        self._others = 0

    def _name(self, tensor: Any) -> str | None:
        if not self._looked:
            self._looked = True
            for found, text in _tensors(*self._call):
                self.names.setdefault(id(found), re.sub(r"[^0-9a-zA-Z_]+", "_", text))
        return self.names.get(id(tensor))

    def name(self, tensor: Any) -> str:
        """Return the name of a tensor; those that are found nowhere are numbered."""
        found = self._name(tensor)
        if found is None:
            found = f"L_stack{self._others}_"
            self._others += 1
        return found

    def owned(self, tensor: Any) -> bool:
        """Return whether a tensor is a module's."""
        return _STATE.search(self._name(tensor) or "") is not None


_STATE = re.compile("_(parameters|buffers)_")


def _tensors(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    owner = getattr(function, "__self__", None)
    plain = getattr(function, "__func__", function)
    if isinstance(owner, torch.nn.Module) and plain.__name__ == "_wrapped_call_impl":
        plain = getattr(owner.forward, "__func__", owner.forward)
    signature = signature_of(owner.forward if isinstance(owner, torch.nn.Module) else function)
    if signature is not None:
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:  # the call itself raises it
            bound = {}
        for key, value in bound.items():
            yield from _leaves(value, f"L_{key}_")
    if owner is not None:
        yield from _leaves(owner, "L_self_")
    for key, cell in zip(getattr(plain, "__code__", _NONE).co_freevars, plain.__closure__ or (), strict=False):
        try:
            yield from _leaves(cell.cell_contents, f"L_{key}_")
        except ValueError:  # an empty cell
            continue
    for key in getattr(plain, "__code__", _NONE).co_names:
        value = plain.__globals__.get(key) if hasattr(plain, "__globals__") else None
        if isinstance(value, (torch.Tensor, torch.nn.Module)):
            yield from _leaves(value, f"G_{key}_")


class _NONE:  # stands for the code of a function that has none
    co_freevars: tuple[str, ...] = ()
    co_names: tuple[str, ...] = ()


def _leaves(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, torch.Tensor):
        yield value, name
    elif isinstance(value, torch.nn.Module):
        yield from _state(value, name)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, f"{name}{key}_")
    elif isinstance(value, (tuple, list)):
        for index, one in enumerate(value):
            yield from _leaves(one, f"{name}{index}_")


def _state(module: Any, name: str) -> Iterator[tuple[Any, str]]:
    for path, inner in module.named_modules(remove_duplicate=False):
        start = name + "".join(f"modules_{part}_" for part in path.split(".") if path)
        for kind in ("parameters", "buffers"):
            for key, value in getattr(inner, f"_{kind}").items():
                if value is not None:
                    yield value, f"{start}{kind}_{key}_"
        for key, value in vars(inner).items():
            if isinstance(value, torch.Tensor):
                yield value, f"{start}{key}_"
