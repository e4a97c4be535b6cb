"""What a tensor says about itself: geometry, layout, memory."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_dispatch.execute.executor import rebind_geometry
from mindtorch_storage.deferred import settle
from mindtorch_storage.layout import channels_last, channels_last_3d, contiguous_format, sparse_coo
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, storage_class_name
from mindtorch_storage.strides import (
    is_channels_last_3d_contiguous,
    is_channels_last_contiguous,
)
from mindtorch_storage.tensor_base import TensorBase

from .pinned import pin_memory, record_stream


def _flag(value: bool, doc: str) -> Any:
    return property(lambda self: value, doc=doc)


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
        """Return the shape, or one extent.

        >>> torch.ones(2, 3).size(), torch.ones(2, 3).size(1)
        (torch.Size([2, 3]), 3)
        """
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
        """Return the strides in elements, or one of them.

        >>> torch.ones(2, 3).stride()
        (3, 1)
        """
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
        """Return the number of dimensions.

        >>> torch.ones(2, 3).dim()
        2
        """
        return self._sig.spec.ndim

    def numel(self) -> int:
        """Return the number of elements.

        >>> torch.ones(2, 3).numel()
        6
        """
        return self._sig.spec.numel

    def element_size(self) -> int:
        """Return the bytes of one element.

        >>> torch.ones(2).element_size()
        4
        """
        return self._sig.spec.itemsize

    def storage_offset(self) -> int:
        """Return how many elements lie between the storage's start and this tensor's first element.

        >>> torch.arange(5)[2:].storage_offset()
        2
        """
        return self._offset

    def untyped_storage(self) -> Any:
        """Return the bytes under this tensor.

        >>> torch.ones(2).untyped_storage().nbytes()
        8
        """
        settle()
        return self._materialized_storage()

    def storage(self) -> Any:
        """Return the storage as a typed one (deprecated by torch).

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> torch.ones(2).storage().tolist()
        [1.0, 1.0]
        """
        settle()
        return TypedStorage(wrap_storage=self._materialized_storage(), dtype=self.dtype, _internal=True)

    _typed_storage = storage

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 for empty and meta tensors.

        >>> x = torch.ones(2)
        >>> x[1:].data_ptr() - x.data_ptr()
        4
        """
        settle()
        spec = self._sig.spec
        if spec.layout is sparse_coo:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        if spec.numel == 0 or spec.device.type == "meta":
            return 0
        return self._materialized_storage().data_ptr() + self._offset * spec.itemsize

    def is_contiguous(self, memory_format: Any = contiguous_format) -> bool:
        """Return whether the strides are those of `memory_format`.

        >>> torch.ones(2, 3).t().is_contiguous()
        False
        """
        spec = self._sig.spec
        if memory_format is channels_last:
            return is_channels_last_contiguous(spec.shape, spec.stride)
        if memory_format is channels_last_3d:
            return is_channels_last_3d_contiguous(spec.shape, spec.stride)
        return spec.is_contiguous

    def dim_order(self) -> tuple[int, ...]:
        """Return the dimensions from the outermost to the innermost stride.

        >>> torch.ones(2, 3).t().dim_order()
        (1, 0)
        """
        stride = self._sig.spec.stride
        return tuple(sorted(range(len(stride)), key=lambda index: -stride[index]))

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a floating-point one.

        >>> torch.ones(1).is_floating_point()
        True
        """
        return self._sig.spec.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Return whether the dtype is complex.

        >>> torch.ones(1, dtype=torch.complex64).is_complex()
        True
        """
        return self._sig.spec.dtype.is_complex

    def is_signed(self) -> bool:
        """Return whether the dtype is signed.

        >>> torch.ones(1, dtype=torch.uint8).is_signed()
        False
        """
        return self._sig.spec.dtype.is_signed

    def is_conj(self) -> bool:
        """Always False: conjugation is done at once.

        >>> torch.ones(1).is_conj()
        False
        """
        return False

    def is_neg(self) -> bool:
        """Always False: negation is done at once.

        >>> torch.ones(1).is_neg()
        False
        """
        return False

    def resolve_conj(self) -> Any:
        """Return self.

        >>> torch.tensor([1 + 2j]).conj().resolve_conj()
        tensor([1.-2.j])
        """
        return self

    def resolve_neg(self) -> Any:
        """Return self.

        >>> torch.tensor([1 + 2j]).conj().imag.resolve_neg()
        tensor([-2.])
        """
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether the memory is pinned.

        >>> torch.ones(1).is_pinned()
        False
        """
        if device is not None:
            _warn_device("is_pinned")
        settle()
        return self._materialized_storage().is_pinned() if self._sig.spec.device.type == "cpu" else False

    pin_memory = pin_memory
    record_stream = record_stream

    def storage_type(self) -> Any:
        """Return the class of the typed storage.

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> torch.ones(1).storage_type().__name__
        'FloatStorage'
        """
        return LEGACY_CLASSES[storage_class_name(self.dtype)]

    def is_shared(self) -> bool:
        """Return whether the memory is shared between processes.

        >>> torch.ones(1).is_shared()
        False
        """
        return self._materialized_storage().is_shared()

    def share_memory_(self) -> Any:
        """Move the storage to shared memory and return self.

        >>> torch.ones(1).share_memory_().is_shared()
        True
        """
        storage = self._materialized_storage()
        storage.share_memory_()
        rebind_geometry(self, self._sig.spec, storage, self._offset)
        return self

    def get_device(self) -> int:
        """Return the device's index, -1 for the CPU.

        >>> torch.ones(2).get_device()
        -1
        """
        index = self._sig.spec.device.index
        return -1 if index is None else index
