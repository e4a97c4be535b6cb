"""Quantisation schemes: named singletons."""

from __future__ import annotations

from typing import Any, cast

from mindtorch_storage._pickling import is_importable_as
from mindtorch_storage.sealed import sealed


@sealed
class qscheme:
    """How whole numbers stand for real ones: one scale for a tensor, or one for each channel.

    >>> torch.per_tensor_affine
    torch.per_tensor_affine
    >>> isinstance(torch.per_tensor_affine, torch.qscheme)
    True
    """

    __slots__ = ("_name",)
    __module__ = "torch"

    _name: str

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if is_importable_as("torch", self._name, self):
            return self._name
        return get_qscheme, (self._name,)


def _make(name: str) -> qscheme:
    new: qscheme = object.__new__(cast(Any, qscheme))
    object.__setattr__(new, "_name", name)
    return new


QSCHEMES = {
    name: _make(name)
    for name in (
        "per_tensor_affine",
        "per_channel_affine",
        "per_tensor_symmetric",
        "per_channel_symmetric",
        "per_channel_affine_float_qparams",
    )
}
"""Every scheme by its name in `torch`."""


def get_qscheme(name: str) -> qscheme:
    """Return the scheme of this name; what pickles of schemes call."""
    return QSCHEMES[name]
