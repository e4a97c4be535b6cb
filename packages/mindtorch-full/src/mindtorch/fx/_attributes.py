"""Attributes of modules by dotted name."""

from __future__ import annotations

from typing import Any

from mindtorch import Tensor
from mindtorch.nn import Module, Parameter


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Give `to_module` the attribute `target`, dotted, of another, with plain modules on the way; tensors become buffers."""
    *prefix, field = target.split(".")
    for name in prefix:
        source, there = getattr(from_module, name), getattr(to_module, name, None)
        if source is there:
            return
        if there is None:
            there = Module()
            setattr(to_module, name, there)
        from_module, to_module = source, there
    value = getattr(from_module, field)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        to_module.register_buffer(field, value)
    else:
        setattr(to_module, field, value)


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Set the attribute `target`, dotted, with plain modules on the way; tensors become buffers."""
    *prefix, field = target.split(".")
    for name in prefix:
        there = getattr(to_module, name, None)
        if there is None:
            there = Module()
            setattr(to_module, name, there)
        to_module = there
    if isinstance(from_obj, Tensor) and not isinstance(from_obj, Parameter):
        to_module.register_buffer(field, from_obj)
    else:
        setattr(to_module, field, from_obj)
