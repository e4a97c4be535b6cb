"""Functions and methods of this package as code that can be compiled, where their own is not."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import mindtorch

from . import functionals, layers, losses, windows


@functools.cache
def _functions() -> dict[Any, Any]:
    known = mindtorch.nn.functional
    defined = {**functionals.DEFINED, **losses.DEFINED, **windows.DEFINED}
    held = {one: getattr(known, name) for name, one in defined.items() if name in known.__dict__}
    return {key: one for one, function in held.items() for key in (function, inspect.unwrap(function))}


def definition_of(function: Any) -> Any:
    """Return the definition of a function of `torch.nn.functional`, None where it has none."""
    try:
        return _functions().get(function)
    except TypeError:  # not hashable
        return None


def method_definition(cls: type, name: str) -> Any:
    """Return what stands in for a method of a layer, None where the class has its own or none is needed."""
    for one in cls.__mro__:
        found = vars(layers.STANDS_IN[one]).get(name) if one in layers.STANDS_IN else None
        if found is not None:
            return found
        if name in vars(one):
            return None
    return None
