"""What a tensor says about itself: geometry, layout, memory."""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Self

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.execute.executor import rebind_geometry
from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_dispatch.meta.checks import wrap_dim
from mindtorch_storage.deferred import settle
from mindtorch_storage.layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    sparse_coo,
    sparse_csr,
    strided,
)
from mindtorch_storage.quantized import QuantizedSpec
from mindtorch_storage.sparse import NO_DENSE_BYTES, CompressedSpec, without
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, storage_class_name
from mindtorch_storage.storage.deprecation import warn_deprecated
from mindtorch_storage.strides import (
    dimension_order,
    is_channels_last_3d_contiguous,
    is_channels_last_contiguous,
    is_order_open,
)
from mindtorch_storage.tensor_base import TensorBase, math_bits

from .native import parsed_by
from .pinned import pin_memory, record_stream


def _flag(value: bool, doc: str) -> Any:
    return property(lambda self: value, doc=doc)


def _dim_of(name: str) -> Any:
    """Return what reads the dimension of the method `name`, or refuses it as torch does."""

    @parsed_by(f"{name}(Tensor self, int dim)", method=True)
    def read(self: TensorBase, dim: int) -> int:
        return wrap_dim(dim, self._sig.spec.ndim, scalar=False)

    return read


_size_dim, _stride_dim = _dim_of("size"), _dim_of("stride")


def _warn_device(name: str) -> None:
    warnings.warn(
        f"The argument 'device' of Tensor.{name}() is deprecated. Please do not pass this argument.",
        DeprecationWarning,
        stacklevel=frames_to_caller(),
    )


class PropertiesMixin(TensorBase):
    """Geometry and memory of a tensor."""

    __slots__ = ()

    @property
    def is_sparse(self) -> bool:
        """True for tensors with the layout `torch.sparse_coo`."""
        return self._sig.spec.layout is sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """True for tensors with the layout `torch.sparse_csr`."""
        return self._sig.spec.layout is sparse_csr

    @property
    def is_quantized(self) -> bool:
        """True for tensors of integers that stand for numbers."""
        return type(self._sig.spec) is QuantizedSpec

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
        """Bytes of all elements; RuntimeError for sparse coordinates, which have no dense memory."""
        if self._sig.spec.layout is sparse_coo:
            raise RuntimeError(NO_DENSE_BYTES)
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
        if type(dim) is not int or not -len(shape) <= dim < len(shape):
            dim = _size_dim(self, dim)
        return shape[dim]

    def stride(self, dim: Any = None) -> Any:
        """Return the strides in elements, or one of them.

        >>> torch.ones(2, 3).stride()
        (3, 1)
        """
        spec = self._sig.spec
        stride = spec.stride
        if type(spec) is CompressedSpec:
            raise without(spec.layout, "strides")
        if dim is None:
            return stride
        if type(dim) is not int or not -len(stride) <= dim < len(stride):
            dim = _stride_dim(self, dim)
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
        warn_deprecated()
        return self._typed_storage()

    def _typed_storage(self) -> Any:
        settle()
        return TypedStorage(wrap_storage=self._materialized_storage(), dtype=self.dtype, _internal=True)

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 for empty and meta tensors.

        >>> x = torch.ones(2)
        >>> x[1:].data_ptr() - x.data_ptr()
        4
        """
        settle()
        spec = self._sig.spec
        if spec.layout is not strided:
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
        if type(spec) is CompressedSpec:
            raise without(spec.layout, "is_contiguous")
        if memory_format is channels_last:
            return is_channels_last_contiguous(spec.shape, spec.stride)
        if memory_format is channels_last_3d:
            return is_channels_last_3d_contiguous(spec.shape, spec.stride)
        return spec.is_contiguous

    def dim_order(self, *, ambiguity_check: bool | list[memory_format] = False) -> tuple[int, ...]:
        """Return the dimensions from the outermost to the innermost stride.

        `ambiguity_check` refuses, with RuntimeError, a tensor that several orders fit; of memory formats in a list it
        must have exactly one.

        >>> torch.ones(2, 3).t().dim_order()
        (1, 0)
        """
        if not isinstance(ambiguity_check, bool) and not (
            isinstance(ambiguity_check, list) and all(isinstance(one, memory_format) for one in ambiguity_check)
        ):
            raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
        spec = self._sig.spec
        if ambiguity_check is not False:
            self._check_dim_order([] if ambiguity_check is True else ambiguity_check)
        last = is_channels_last_contiguous(spec.shape, spec.stride)
        if spec.numel == 0 or (spec.is_contiguous and not last):
            return tuple(range(spec.ndim))
        if last and not spec.is_contiguous:
            return (0, *range(2, spec.ndim), 1)
        if ambiguity_check and is_order_open(spec.shape, spec.stride):
            raise RuntimeError("The tensor does not have unique dim order.")
        return tuple(reversed(dimension_order(spec.shape, [spec.stride])))

    def _check_dim_order(self, formats: list[memory_format]) -> None:
        """RuntimeError when several orders of the dimensions fit and none of `formats`, or more than one, has this one."""
        shape, stride = self._sig.spec.shape, self._sig.spec.stride
        fits_several = 1 in shape or any(outer == inner for outer, inner in itertools.pairwise(stride))
        if fits_several and sum(self.is_contiguous(memory_format=one) for one in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )

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
        """Return whether this is a view that shows the conjugates of what its storage holds.

        >>> torch.ones(1).is_conj(), torch.tensor([1 + 2j]).conj().is_conj()
        (False, True)
        """
        return math_bits(self).conj

    def is_neg(self) -> bool:
        """Return whether this is a view that shows the negatives of what its storage holds.

        >>> torch.ones(1)._neg_view().is_neg()
        True
        """
        return math_bits(self).neg

    def resolve_conj(self) -> Self:
        """Return self, or a copy of a view of conjugates.

        >>> torch.tensor([1 + 2j]).conj().resolve_conj()
        tensor([1.-2.j])
        """
        return aten.resolve_conj(self)

    def resolve_neg(self) -> Self:
        """Return self, or a copy of a view of negatives.

        >>> torch.ones(1)._neg_view().resolve_neg().is_neg()
        False
        """
        return aten.resolve_neg(self)

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether the memory is pinned.

        >>> torch.ones(1).is_pinned()
        False
        """
        if device is not None:
            _warn_device("is_pinned")
        settle()
        if self._sig.spec.layout is not strided:
            return bool(self._array.values.is_pinned())
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

    def _fix_weakref(self) -> None:
        """Keep weak references right after a tensor came back: here a tensor that is referred to never went."""

    def is_shared(self) -> bool:
        """Return whether the memory is shared between processes.

        >>> torch.ones(1).is_shared()
        False
        """
        return self._materialized_storage().is_shared()

    def share_memory_(self) -> Self:
        """Move the storage to shared memory and return self.

        >>> torch.ones(1).share_memory_().is_shared()
        True
        """
        storage = self._materialized_storage()
        storage.share_memory_()
        if not self.is_quantized:  # whose integers have followed
            rebind_geometry(self, self._sig.spec, storage, self._offset)
        return self

    def get_device(self) -> int:
        """Return the device's index, -1 for the CPU.

        >>> torch.ones(2).get_device()
        -1
        """
        index = self._sig.spec.device.index
        return -1 if index is None else index
