"""Functions and methods of this package as code that can be compiled, where their own is not."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import mindtorch

from . import (
    attention,
    attention_layers,
    functionals,
    layers,
    losses,
    padding_layers,
    recurrent_layers,
    sampling,
    windows,
)

_LAYERS: dict[type, type] = {
    **layers.STANDS_IN, **recurrent_layers.STANDS_IN, **attention_layers.STANDS_IN, **padding_layers.STANDS_IN,
}  # fmt: skip
"""The class whose methods stand in for those of a layer."""


@functools.cache
def _functions() -> dict[Any, Any]:
    known = mindtorch.nn.functional
    defined = {**functionals.DEFINED, **losses.DEFINED, **attention.DEFINED, **windows.DEFINED, **sampling.DEFINED}
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
        found = vars(_LAYERS[one]).get(name) if one in _LAYERS else None
        if found is not None:
            return found
        if name in vars(one):
            return None
    return None
