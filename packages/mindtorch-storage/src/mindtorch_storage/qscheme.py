"""Quantisation schemes: named singletons."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from mindtorch_storage._pickling import is_importable_as


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

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("cannot create 'torch.qscheme' instances")

    def __init_subclass__(cls, **kwargs: object) -> NoReturn:
        raise TypeError("type 'torch.qscheme' is not an acceptable base type")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'torch.qscheme' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if is_importable_as("torch", self._name, self):
            return self._name
        return get_qscheme, (self._name,)

    def __copy__(self) -> qscheme:
        return self

    def __deepcopy__(self, memo: object) -> qscheme:
        return self


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
