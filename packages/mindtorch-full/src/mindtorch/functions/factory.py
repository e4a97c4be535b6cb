"""Factories and defaults that are not plain ops."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch import defaults
from mindtorch_dispatch.arguments.parameter import check_scalar
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage import promotion
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase

from .._naming import adopt
from ..tensor.construction import tensor
from ..tensor.native import parsed_by
from .checks import given_tensor

__all__ = [
    "can_cast",
    "get_default_device",
    "get_default_dtype",
    "is_storage",
    "is_tensor",
    "numel",
    "promote_types",
    "result_type",
    "set_default_device",
    "set_default_dtype",
    "tensor",
]

get_default_dtype = defaults.get_default_dtype
set_default_dtype = defaults.set_default_dtype


def get_default_device() -> Device:
    """Return the device that factories use when none is given.

    >>> torch.get_default_device()
    device(type='cpu')
    """
    chosen = defaults.get_default_device()
    if chosen.index is None and chosen.type not in ("cpu", "meta"):
        made = aten.empty([0], device=chosen)  # the error of a device that is not there
        chosen = made.device  # with its index
    return chosen


def set_default_device(device: Any) -> None:
    """Make `device` the default of this thread's factories; None puts the CPU back.

    >>> torch.set_default_device("meta")
    >>> torch.ones(2).device
    device(type='meta')
    >>> torch.set_default_device(None)
    """
    state.mode = state.mode.replace(default_device=None if device is None else Device(device))


def is_tensor(obj: Any, /) -> bool:
    """Return whether `obj` is a tensor.

    >>> torch.is_tensor(torch.tensor([1]))
    True
    """
    return isinstance(obj, TensorBase)


def is_storage(obj: Any, /) -> bool:
    """Return whether `obj` is a storage.

    >>> torch.is_storage(torch.ones(2).untyped_storage()), torch.is_storage(torch.ones(2))
    (True, False)
    """
    return type(obj).__name__ in ("UntypedStorage", "TypedStorage")


def numel(input: Any) -> int:
    """Return the number of elements.

    >>> torch.numel(torch.ones(2, 3))
    6
    """
    return given_tensor(input, "numel").numel()


@parsed_by("can_cast(ScalarType from_, ScalarType to)", asks_modes=True)
def can_cast(from_: Dtype, to: Dtype) -> bool:
    """Return whether an in-place op may store a result of type `from_` into a tensor of type `to`.

    >>> torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)
    (True, False)
    """
    return promotion.can_cast(from_, to)


@parsed_by("promote_types(ScalarType type1, ScalarType type2)", asks_modes=True)
def promote_types(type1: Dtype, type2: Dtype) -> Dtype:
    """Return the smallest type of the lattice that both types convert to.

    >>> torch.promote_types(torch.int32, torch.float16)
    torch.float16
    """
    return promotion.promote_types(type1, type2)


def result_type(*args: Any, **kwargs: Any) -> Any:
    """Return the dtype of an elementwise operation on the two operands, tensors or numbers.

    >>> torch.result_type(torch.tensor([1]), 1.0)
    torch.float32
    """
    operands = (*args, *kwargs.values())
    kinds = [isinstance(each, TensorBase | bool | int | float | complex) for each in operands]
    if len(operands) != 2 or not all(kinds):
        got = ", ".join("Tensor" if isinstance(each, TensorBase) else type(each).__name__ for each in operands)
        raise TypeError(f"result_type() takes two tensors or numbers, but got ({got})")
    tensors = [each for each in operands if isinstance(each, TensorBase)]
    numbers = [each for each in operands if not isinstance(each, TensorBase)]
    for each in numbers:
        if isinstance(each, int):
            check_scalar(each)
    return promotion.result_type(
        [each.dtype for each in tensors if each._sig.spec.ndim],
        [each.dtype for each in tensors if not each._sig.spec.ndim],
        [promotion.number_dtype(type(each), get_default_dtype()) for each in numbers],
    )


adopt(globals(), "torch")
