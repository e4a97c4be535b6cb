"""What a collective asks of its tensors before it starts, with the texts of torch's gloo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import mindtorch
from mindtorch.distributed._reduce_op import RedOpType, type_of
from mindtorch.distributed._tensors import check_dtype

_SCALARS = {
    "bool": ("bool", "Bool"),
    "uint8": ("unsigned char", "Byte"),
    "int8": ("signed char", "Char"),
    "int16": ("short int", "Short"),
    "int32": ("int", "Int"),
    "int64": ("long int", "Long"),
    "float16": ("c10::Half", "Half"),
    "bfloat16": ("c10::BFloat16", "BFloat16"),
    "float32": ("float", "Float"),
    "float64": ("double", "Double"),
    "complex64": ("c10::complex<float>", "ComplexFloat"),
    "complex128": ("c10::complex<double>", "ComplexDouble"),
}
_BITS = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)


def scalar_names(dtype: Any) -> tuple[str, str]:
    """The name in C++ and the name in messages of a dtype."""
    short = str(dtype).rpartition(".")[2]
    return _SCALARS.get(short, (short, short))


def fail(operation: str, text: str) -> NoReturn:
    """Raise what gloo raises for an invalid argument."""
    raise RuntimeError(f"ProcessGroupGloo::{operation}: {text}")


def root(operation: str, rank: int, size: int) -> None:
    """The root is a rank of the group."""
    if not 0 <= rank < size:
        fail(operation, f"invalid root rank: {rank}")


def _options(tensor: Any) -> str:
    return (
        f"TensorOptions(dtype={scalar_names(tensor.dtype)[0]}, device={tensor.device.type}, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _shape(tensor: Any) -> str:
    sizes = list(tensor.shape)
    return f"({', '.join(map(str, sizes))})"


def same_kind(operation: str, tensors: Sequence[Any], like: Any) -> None:
    """All tensors have the dtype and the shape of `like`."""
    for index, tensor in enumerate(tensors):
        if tensor.dtype != like.dtype:
            expected, got = _options(like), _options(tensor)
            fail(operation, f"invalid tensor type at index {index} (expected {expected}, got {got})")
        if tensor.shape != like.shape:
            expected, got = _shape(like), _shape(tensor)
            fail(operation, f"invalid tensor size at index {index} (expected {expected}, got {got})")
    check_dtype(like)


def reduction(tensor: Any, op: Any, size: int) -> None:
    """The dtype has this reduction."""
    check_dtype(tensor)
    kind = type_of(op)
    number = tensor.dtype.is_floating_point
    if kind is RedOpType.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with Gloo")
    if kind in _BITS and number:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    if kind is RedOpType.AVG and not number:
        name = scalar_names(tensor.dtype)[1]
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}")


def copying(tensors: Sequence[Any], copy: Callable[[], None]) -> Callable[[], None]:
    """Return `copy`, which writes results into these tensors, or what raises instead of it.

    A leaf that requires a gradient may not be written while gradients are recorded. That is said at the end: other
    processes need this one until then.
    """
    if not mindtorch.is_grad_enabled() or not any(tensor.requires_grad and tensor.is_leaf for tensor in tensors):
        return copy

    def refuse() -> None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")

    return refuse


def holds(condition: bool, text: str, left: object, right: object) -> None:
    """A condition that torch writes out when it fails."""
    if not condition:
        raise RuntimeError(f"Check failed: {text} ({left} vs. {right}). ")


def equal_bytes(given: Any, result: Any, size: int) -> None:
    """The memory of both divides into as many bytes for each rank, whatever their shapes are."""
    count = given.numel() * given.element_size()
    if given.numel() != result.numel():
        raise RuntimeError("[enforce fail at gloo/alltoall.cc:30] in->size == out->size. ")
    if count % size:
        raise RuntimeError("[enforce fail at gloo/alltoall.cc:31] in->size % context->size == 0. ")


def splits(sizes: Sequence[int], tensor: Any, size: int) -> list[int]:
    """How many elements of `tensor` each rank has: equal parts, or the rows in `sizes`."""
    rows = tensor.shape[0] if tensor.dim() else 0
    if not sizes:
        if rows % size:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [tensor.numel() // size] * size
    if len(sizes) != size:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    row = tensor.numel() // rows if rows else 0
    return [count * row for count in sizes]
