"""Tensors as the flat arrays of bytes and numbers that an engine takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mindtorch

_SUPPORTED = frozenset("bool uint8 int8 int32 int64 float16 bfloat16 float32 float64".split())


def check_dtype(tensor: Any) -> None:
    """RuntimeError for a dtype that gloo does not know; its list is ours, so that programs behave the same."""
    if str(tensor.dtype).rpartition(".")[2] not in _SUPPORTED:
        raise RuntimeError("Invalid scalar type")


def flat(tensor: Any) -> tuple[np.ndarray[Any, Any], Callable[[], None]]:
    """The elements as one array, and what writes them back: nothing, when the array is the tensor's memory."""
    if tensor.is_neg():  # the memory has other signs than the values
        return _negated(tensor)
    array = host(tensor)
    if array.flags.c_contiguous:
        return array.reshape(-1), _nothing
    copied = np.ascontiguousarray(array).reshape(-1)

    def write_back() -> None:
        array[...] = copied.reshape(array.shape)

    return copied, write_back


def _negated(tensor: Any) -> tuple[np.ndarray[Any, Any], Callable[[], None]]:
    memory = host(tensor._neg_view())
    values = np.negative(memory).reshape(-1)

    def write_back() -> None:
        np.negative(values.reshape(memory.shape), out=memory)

    return values, write_back


def in_memory_order(tensor: Any) -> tuple[np.ndarray[Any, Any], Callable[[], None]]:
    """`flat` in the order of memory, where the elements lie behind one another."""
    ordered = tensor.permute(sorted(range(tensor.dim()), key=tensor.stride, reverse=True))
    return flat(ordered if ordered.is_contiguous() else tensor)


def check_in_order(tensor: Any) -> None:
    """ValueError unless the elements lie behind one another, in the order of a memory format."""
    formats = {4: mindtorch.channels_last, 5: mindtorch.channels_last_3d}
    chosen = formats.get(tensor.dim(), mindtorch.contiguous_format)
    if not tensor.is_contiguous() and not tensor.is_contiguous(memory_format=chosen):
        raise ValueError("Tensors must be contiguous")


def host(tensor: Any) -> np.ndarray[Any, Any]:
    """The elements on the host, without history: an array over the tensor's memory."""
    if tensor.device.type != "cpu":
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")
    array = tensor.detach()._host_array()
    return array if array is not None else np.empty(0, np.uint8)


def _nothing() -> None:
    """The array is the tensor's memory."""


def written(tensors: Sequence[Any]) -> None:
    """Say that the values of these tensors changed, for those that saved them for backward."""
    for tensor in tensors:
        if not tensor.is_inference():
            mindtorch.autograd.graph.increment_version(tensor)


def joined(tensors: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The elements of all tensors behind one another, as a copy."""
    parts = [flat(tensor)[0] for tensor in tensors]
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def spread(array: np.ndarray[Any, Any], tensors: Sequence[Any]) -> None:
    """Copy the parts of `array` into the tensors."""
    start = 0
    for tensor in tensors:
        part = array[start : start + tensor.numel()].reshape(tensor.shape)
        if tensor.is_neg():
            np.negative(part, out=host(tensor._neg_view()))
        else:
            host(tensor)[...] = part
        start += tensor.numel()
