"""What a tensor says about itself: geometry, layout, memory."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch.tensor import relocation as relocation  # storages can move from the first tensor on
from mindtorch_autograd.inplace import check_inplace
from mindtorch_autograd.node import NotImplementedNode
from mindtorch_autograd.views import gradient_edge, set_history
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.execute.executor import rebind_geometry
from mindtorch_dispatch.plan.targets import check_inference
from mindtorch_dispatch.state import state
from mindtorch_storage.deferred import settle
from mindtorch_storage.layout import channels_last, channels_last_3d, contiguous_format, preserve_format, sparse_coo
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, storage_class_name
from mindtorch_storage.strides import (
    channels_last_3d_strides,
    channels_last_strides,
    contiguous_strides,
    is_channels_last_3d_contiguous,
    is_channels_last_contiguous,
    memory_span,
)
from mindtorch_storage.tensor_base import TensorBase

from .pinned import pin_memory, record_stream


def _flag(value: bool, doc: str) -> Any:
    return property(lambda self: value, doc=doc)


_C_NAMES = {"Long": "long int", "Short": "short int", "Byte": "unsigned char", "Char": "signed char"} | {
    name: f"c10::{name}" for name in ("Half", "BFloat16", "Float8_e5m2", "Float8_e4m3fn")
}


def _c_name(dtype: Any) -> str:
    if dtype.is_complex:
        return f"c10::complex<{_c_name(dtype.to_real())}>"
    return _C_NAMES.get(dtype.scalar_name, dtype.scalar_name.lower())


def _warn_device(name: str) -> None:
    warnings.warn(
        f"The argument 'device' of Tensor.{name}() is deprecated. Please do not pass this argument.",
        DeprecationWarning,
        stacklevel=3,
    )


class PropertiesMixin(TensorBase):
    """Geometry and memory of a tensor."""

    __slots__ = ()

    @property
    def is_sparse(self) -> bool:
        """True for tensors with the layout `torch.sparse_coo`."""
        return self._sig.spec.layout is sparse_coo

    is_sparse_csr = _flag(False, "Always False.")
    is_quantized = _flag(False, "Always False.")
    is_nested = _flag(False, "Always False.")
    is_mkldnn = _flag(False, "Always False.")
    is_cuda = _flag(False, "Always False.")
    is_mps = _flag(False, "Always False.")
    is_xpu = _flag(False, "Always False.")
    is_xla = _flag(False, "Always False.")
    is_ipu = _flag(False, "Always False.")
    is_mtia = _flag(False, "Always False.")
    is_maia = _flag(False, "Always False.")
    is_vulkan = _flag(False, "Always False.")

    @property
    def is_cpu(self) -> bool:
        """True for tensors in host memory."""
        return self._sig.spec.device.type == "cpu"

    @property
    def is_npu(self) -> bool:
        """True for tensors on an Ascend NPU."""
        return self._sig.spec.device.type == "npu"

    @property
    def is_meta(self) -> bool:
        """True for tensors without data."""
        return self._sig.spec.device.type == "meta"

    @property
    def layout(self) -> Any:
        """`torch.strided`."""
        return self._sig.spec.layout

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._sig.spec.ndim

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._sig.spec.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._sig.spec.nbytes

    @property
    def name(self) -> Any:
        """The variable's name, None unless set."""
        return None if self._meta is None else self._meta.name

    def size(self, dim: Any = None) -> Any:
        """Return the shape, or one extent."""
        shape = self._sig.spec.shape
        if dim is None:
            return shape
        if not isinstance(dim, int):
            raise TypeError(f"size(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
        ndim = len(shape)
        if not ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
            )
        return shape[dim]

    def stride(self, dim: Any = None) -> Any:
        """Return the strides in elements, or one of them."""
        stride = self._sig.spec.stride
        if dim is None:
            return stride
        if not -len(stride) <= dim < len(stride):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-len(stride)}, {len(stride) - 1}], but got {dim})"
                if stride
                else f"Dimension specified as {dim} but tensor has no dimensions"
            )
        return stride[dim]

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self._sig.spec.ndim

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements."""
        return self._sig.spec.numel

    nelement = numel

    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self._sig.spec.itemsize

    def storage_offset(self) -> int:
        """Return how many elements lie between the storage's start and this tensor's first element."""
        return self._offset

    def untyped_storage(self) -> Any:
        """Return the bytes under this tensor."""
        settle()
        return self._materialized_storage()

    def storage(self) -> Any:
        """Return the storage as a typed one (deprecated by torch)."""
        settle()
        return TypedStorage(wrap_storage=self._materialized_storage(), dtype=self.dtype, _internal=True)

    _typed_storage = storage

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 for empty and meta tensors."""
        settle()
        spec = self._sig.spec
        if spec.layout is sparse_coo:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        if spec.numel == 0 or spec.device.type == "meta":
            return 0
        return self._materialized_storage().data_ptr() + self._offset * spec.itemsize

    def is_contiguous(self, memory_format: Any = contiguous_format) -> bool:
        """Return whether the strides are those of `memory_format`."""
        spec = self._sig.spec
        if memory_format is channels_last:
            return is_channels_last_contiguous(spec.shape, spec.stride)
        if memory_format is channels_last_3d:
            return is_channels_last_3d_contiguous(spec.shape, spec.stride)
        return spec.is_contiguous

    def dim_order(self) -> tuple[int, ...]:
        """Return the dimensions from the outermost to the innermost stride."""
        stride = self._sig.spec.stride
        return tuple(sorted(range(len(stride)), key=lambda index: -stride[index]))

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a floating-point one."""
        return self._sig.spec.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Return whether the dtype is complex."""
        return self._sig.spec.dtype.is_complex

    def is_signed(self) -> bool:
        """Return whether the dtype is signed."""
        return self._sig.spec.dtype.is_signed

    def is_conj(self) -> bool:
        """Always False: conjugation is done at once."""
        return False

    def is_neg(self) -> bool:
        """Always False: negation is done at once."""
        return False

    def resolve_conj(self) -> Any:
        """Return self."""
        return self

    def resolve_neg(self) -> Any:
        """Return self."""
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether the memory is pinned."""
        if device is not None:
            _warn_device("is_pinned")
        settle()
        return self._materialized_storage().is_pinned() if self._sig.spec.device.type == "cpu" else False

    pin_memory = pin_memory
    record_stream = record_stream

    def storage_type(self) -> Any:
        """Return the class of the typed storage."""
        return LEGACY_CLASSES[storage_class_name(self.dtype)]

    def is_shared(self) -> bool:
        """Return whether the memory is shared between processes."""
        return self._materialized_storage().is_shared()

    def share_memory_(self) -> Any:
        """Move the storage to shared memory and return self."""
        storage = self._materialized_storage()
        storage.share_memory_()
        rebind_geometry(self, self._sig.spec, storage, self._offset)
        return self

    def get_device(self) -> int:
        """Return the device's index, -1 for the CPU."""
        index = self._sig.spec.device.index
        return -1 if index is None else index

    @property
    def data(self) -> Any:
        """A tensor over the same bytes without history and with a version counter of its own."""
        made = self.detach()  # type: ignore[attr-defined]
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

    def _set_storage(self, storage: Any, offset: int, size: Any, stride: Any) -> Any:
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
        tracked = self._sig.requires_grad and state.mode.records
        if tracked:
            check_inplace(self)
        check_inference(self)
        needed = memory_span(spec.shape, spec.stride, offset) * spec.itemsize if spec.numel else 0
        if needed > storage.nbytes():
            storage.resize_(needed)
        rebind_geometry(self, spec, storage, offset)
        self._counter[0] += 1
        if tracked:
            node = NotImplementedNode((gradient_edge(self), (None, 0)), (spec,))
            node.op_name = "set_"
            set_history(self, node, 0)
        return self

    def set_(self, source: Any = None, storage_offset: Any = 0, size: Any = None, stride: Any = None) -> Any:
        """Point this tensor at another storage or at another tensor's bytes, and return it."""
        if source is None:
            return self._set_storage(aten.empty([0], dtype=self.dtype)._materialized_storage(), 0, (0,), (1,))
        if source is self:
            return self
        if isinstance(source, TensorBase):
            spec = source._sig.spec
            if spec.dtype is not self.dtype:
                raise RuntimeError(
                    f"Could not set tensor of type {_c_name(spec.dtype)} to a tensor of type {_c_name(self.dtype)}"
                )
            return self._set_storage(source._materialized_storage(), source._offset, spec.shape, spec.stride)
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
        """Give this tensor another shape, growing its storage when needed; new elements are undefined."""
        shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
        check_inference(self)
        if self._sig.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        if any(extent < 0 for extent in shape):
            raise RuntimeError("numel: integer multiplication overflow")
        if shape == tuple(self.shape) and memory_format is None:
            return self
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
        spec = Spec.of(self.dtype, self.device, shape, tuple(stride))
        storage = self._materialized_storage()
        needed = self._offset * spec.itemsize + spec.nbytes if spec.numel else 0
        if storage.nbytes() < needed:
            storage.resize_(needed)
        rebind_geometry(self, spec, storage, self._offset)
        self._counter[0] += 1
        return self

    def resize_as_(self, other: Any, memory_format: Any = None) -> Any:
        """`resize_` to the other tensor's shape, and with `torch.preserve_format` to its format."""
        if memory_format is preserve_format:
            spec = other._sig.spec
            in_format = spec.ndim == 4 and spec.stride == tuple(channels_last_strides(spec.shape))
            memory_format = channels_last if in_format and not spec.is_contiguous else contiguous_format
        return self.resize_(tuple(other.shape), memory_format=memory_format)
