"""Giving a tensor other memory or another size: `.data`, `set_`, `resize_`."""

from __future__ import annotations

import functools
import math
from typing import Any, Self

from mindtorch.tensor import relocation as relocation  # storages can move from the first tensor on
from mindtorch_autograd.inplace import check_inplace, rebase_history
from mindtorch_autograd.node import NotImplementedNode
from mindtorch_autograd.views import gradient_edge
from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.arguments.messages import type_name
from mindtorch_dispatch.arguments.parameter import INT64, is_index
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.determinism import filling
from mindtorch_dispatch.execute.executor import rebind_geometry
from mindtorch_dispatch.plan.determinism import alert_of
from mindtorch_dispatch.plan.targets import check_inference
from mindtorch_dispatch.quantized import tensors as quantized
from mindtorch_dispatch.schema import parse_schema
from mindtorch_dispatch.state import state
from mindtorch_storage.deferred import settle
from mindtorch_storage.layout import channels_last, channels_last_3d, contiguous_format, preserve_format
from mindtorch_storage.quantized import PER_TENSOR, QuantizedSpec
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import TypedStorage
from mindtorch_storage.storage.elements import c_name
from mindtorch_storage.strides import (
    channels_last_3d_strides,
    channels_last_strides,
    contiguous_strides,
    memory_span,
)
from mindtorch_storage.tensor_base import TensorBase, no_accumulator

_MOST = 2**63 - 1


def check_extents(shape: tuple[int, ...], itemsize: int) -> None:
    """Refuse a shape whose elements or bytes an int64 cannot count, in torch's words."""
    count = math.prod(shape)
    if count > _MOST:
        raise RuntimeError("numel: integer multiplication overflow")
    if not count and max(contiguous_strides(shape), default=0) > _MOST:
        raise RuntimeError("Stride calculation overflowed")
    if count * itemsize > _MOST:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def check_integers(function: str, argument: str, values: Any) -> None:
    """Refuse what 64 bits do not hold as torch's parser does."""
    for position, value in enumerate(values, 1):
        if type(value) is int and value not in INT64:
            raise TypeError(
                f"{function}(): argument '{argument}' failed to unpack the object at pos {position} with error "
                '"Overflow when unpacking long long"'
            )


def _shape_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape that the arguments of `resize_` are."""
    if not sizes:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    first = sizes[0]
    listed = isinstance(first, (tuple, list))
    values = tuple(first) if listed else sizes
    if len(sizes) > 1 and (listed or not is_index(first)):
        raise TypeError(f"resize_() takes 1 positional argument but {len(sizes)} were given")
    text = "resize_(): argument 'size' (position 1) must be tuple of ints"
    if not listed and not is_index(first):
        raise TypeError(f"{text}, not {type_name(first)}")
    if values and not is_index(values[0]):
        raise TypeError(f"{text}, but found element of type {type_name(values[0])} at pos 0")
    for position, value in enumerate(values[1:], 2):
        if not is_index(value) and not isinstance(value, bool):
            raise TypeError(
                f"resize_(): argument 'size' failed to unpack the object at pos {position} with error "
                f'"type must be tuple of ints,but got {type_name(value)}"'
            )
    check_integers("resize_", "size", values)
    return tuple(int(value) for value in values)


_PARTS = "int storage_offset, int[] size, int[] stride=[]"
_FORMS = ("", ", Storage source", f", Storage source, {_PARTS}", ", Tensor source", f", Tensor source, {_PARTS}")
"""What `set_` takes beside the tensor."""


@functools.cache
def _set_parser() -> ArgumentParser:
    parser = ArgumentParser("set_", [parse_schema(f"set_(Tensor self{form}) -> ()") for form in _FORMS], is_method=True)
    parser.signatures = tuple(sorted(parser.signatures, key=lambda one: one.index))
    return parser


class MemoryMixin(TensorBase):
    """What a tensor's memory and size are changed by."""

    __slots__ = ()

    @property
    def data(self) -> Self:
        """A tensor over the same bytes without history and with a version counter of its own."""
        made = self.detach()  # type: ignore[attr-defined]
        if made._pending and getattr(made, "_storage", None) is None:
            settle()  # where memory is shared under two counters, writes look at the storage
        made._counter = [0]
        return made

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        dtype = value._sig.spec.dtype
        if self._sig.requires_grad and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        settle()  # what is recorded means the bytes of before
        storage = value._materialized_storage()
        self._array, self._storage, self._offset = value._array, storage, value._offset
        self._sig = value._sig.requiring(self._sig.requires_grad)

    def _set_storage(self, storage: Any, offset: int, size: Any, stride: Any, source: Any = None) -> Any:
        size, stride = tuple(size), tuple(stride)
        if storage.device != self.device:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on different device '
                f'"{storage.device}".  This is no longer allowed; the devices must match.'
            )
        if len(size) != len(stride):
            raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
        if offset < 0:
            raise RuntimeError(f"Tensor: invalid storage offset {offset}")
        if any(extent < 0 for extent in size):
            raise RuntimeError("numel: integer multiplication overflow")
        if any(step < 0 for step in stride) and memory_span(size, [abs(step) for step in stride]) > 1:
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
            )
        spec = Spec.of(self.dtype, self.device, size, stride)
        from_graph = source is not None and source._sig.requires_grad
        tracked = (self._sig.requires_grad or from_graph) and state.mode.records
        if tracked:
            check_inplace(self)
        check_inference(self)
        if tracked:  # before the bytes change: the region that a view had is what its base is told of
            node = NotImplementedNode(
                (gradient_edge(self), gradient_edge(source) if from_graph else (None, 0)), (spec,)
            )
            node.op_name = "set_"
            rebase_history(self, node)
        needed = memory_span(spec.shape, spec.stride, offset) * spec.itemsize if spec.numel else 0
        if needed > storage.nbytes():
            storage.resize_(needed)
        rebind_geometry(self, spec, storage, offset)
        self._counter[0] += 1
        if self._meta is not None:
            self._meta.accumulator = no_accumulator  # what was computed from the bytes of before has its leaf there
        if tracked and self._view is not None:
            self._view.attr_version = self._counter[0]
        return self

    def set_(self, *args: Any, **kwargs: Any) -> Self:
        """Point this tensor at another storage or at another tensor's bytes, and return it.

        >>> torch.empty(0).set_(torch.tensor([1.0, 2.0]))
        tensor([1., 2.])
        """
        values = _set_parser().parse((self, *args), kwargs).values[1:]
        if not values:
            return self._set_storage(
                aten.empty([0], dtype=self.dtype, device=self.device)._materialized_storage(), 0, (0,), (1,)
            )
        source, storage_offset, size, stride = values if len(values) == 4 else (*values, 0, None, None)
        if isinstance(source, TensorBase):
            spec = source._sig.spec
            if spec.dtype is not self.dtype:
                raise RuntimeError(
                    f"Could not set tensor of type {c_name(spec.dtype)} to a tensor of type {c_name(self.dtype)}"
                )
            storage = source._materialized_storage()
            if size is None:
                return self._set_storage(storage, source._offset, spec.shape, spec.stride, source)
            return self._set_storage(storage, storage_offset, size, stride or contiguous_strides(tuple(size)))
        if isinstance(source, TypedStorage) and source.dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {self.dtype.scalar_name.lower()} or an UntypedStorage, but got type "
                f"{source.dtype.scalar_name} for argument 1 'storage'"
            )
        storage = source.untyped() if hasattr(source, "untyped") else source
        if size is None:
            size = (storage.nbytes() // self.itemsize - storage_offset,)
        return self._set_storage(storage, storage_offset, size, stride or contiguous_strides(tuple(size)))

    def resize_(self, *size: Any, memory_format: Any = None) -> Any:
        """Give this tensor another shape, growing its storage when needed; new elements are undefined.

        >>> torch.arange(4).resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
        """
        shape = _shape_of(size)
        check_inference(self)
        if self._sig.requires_grad and not state.mode.inference:
            raise RuntimeError("cannot resize variables that require grad")
        if any(extent < 0 for extent in shape):
            raise RuntimeError("numel: integer multiplication overflow")
        if shape == tuple(self.shape) and memory_format is None:
            return self
        check_extents(shape, self.itemsize)
        stride = contiguous_strides(shape)
        if memory_format is preserve_format:
            raise RuntimeError("Unsupported memory formatPreserve")
        if memory_format is channels_last:
            if len(shape) != 4:
                raise RuntimeError("required rank 4 tensor to use channels_last format")
            stride = channels_last_strides(shape)
        elif memory_format is channels_last_3d:
            if len(shape) != 5:
                raise RuntimeError("required rank 5 tensor to use channels_last_3d format")
            stride = channels_last_3d_strides(shape)
        if type(self._sig.spec) is QuantizedSpec:
            alert_of("quantized_resize_cpu_")
            if self.qscheme() is not PER_TENSOR:
                raise RuntimeError("Can only resize quantized tensors with per-tensor schemes!")
            return quantized.replace(self, quantized.like(self, quantized.integers(self).detach().resize_(shape)))
        spec = Spec.of(self.dtype, self.device, shape, tuple(stride))
        storage = self._materialized_storage()
        needed = self._offset * spec.itemsize + spec.nbytes if spec.numel else 0
        before = storage.nbytes()
        if before < needed:
            storage.resize_(needed)
        rebind_geometry(self, spec, storage, self._offset)
        if before < needed:
            self._fill_from(before // spec.itemsize)
        self._counter[0] += 1
        return self

    def _fill_from(self, first: int) -> None:
        """Fill the storage from an element on, where new memory is filled."""
        spec = self._sig.spec
        value = filling(spec.np_dtype)
        if value is None or spec.device.type == "meta":
            return
        storage = self._storage
        count = storage.nbytes() // spec.itemsize - first
        added = aten.empty((0,), dtype=self.dtype, device=self.device)
        added._set_storage(storage, first, (count,), (1,)).fill_(value)

    def resize_as_(self, other: Any, memory_format: Any = None) -> Self:
        """`resize_` to the other tensor's shape, and with `torch.preserve_format` to its format.

        >>> torch.arange(4).resize_as_(torch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        if memory_format is preserve_format:
            spec = other._sig.spec
            in_format = spec.ndim == 4 and spec.stride == tuple(channels_last_strides(spec.shape))
            memory_format = channels_last if in_format and not spec.is_contiguous else contiguous_format
        return self.resize_(tuple(other.shape), memory_format=memory_format)
