"""`Tensor` to Python values and between dtypes and devices by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn, Self

import numpy as np

from mindtorch._overridable import shortcuts
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.defaults import get_default_dtype
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override.handlers import dispatches
from mindtorch_dispatch.plan import plain_types
from mindtorch_dispatch.state import state
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage import dtype as dtypes
from mindtorch_storage.device import device as Device
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.quantized import INTEGERS
from mindtorch_storage.sparse import CompressedSpec
from mindtorch_storage.tensor_base import TensorBase, has_lost_bytes

_HOST = Device("cpu")
_LOST_GRADIENT = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)


class ConversionMixin(TensorBase):
    """Reading values out, and `float()`, `half()`, `cpu()` and the like."""

    __slots__ = ()

    def item(self) -> int | float | bool:
        """Return the only element as a Python number; RuntimeError with torch's text for other counts.

        >>> torch.tensor([2.5]).item()
        2.5
        """
        spec = self._sig.spec
        if spec.numel != 1:
            raise RuntimeError(f"a Tensor with {spec.numel} elements cannot be converted to Scalar")
        if state.mode.dispatch_modes or type(self) not in plain_types:
            return aten._local_scalar_dense.default(self)
        if spec.dtype in INTEGERS:
            return aten._local_scalar_dense.default(self)
        array = self._readable_array()
        if array is None:
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        value: Any = array.item()
        if isinstance(value, (int, float, complex, bool)):
            return value  # type: ignore[return-value]  # annotated as torch's
        return complex(*value) if isinstance(value, tuple) else float(value)  # type: ignore[return-value]  # complex32 is a pair for numpy

    def tolist(self) -> list[Any]:
        """Return the elements as nested lists of Python numbers (a number for 0-d).

        >>> torch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        if type(self) not in plain_types and dispatches(type(self)):
            raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {type(self).__name__}")
        if self._sig.spec.dtype in INTEGERS:
            raise RuntimeError("load_scalar: invalid type")
        if has_lost_bytes(self):
            raise RuntimeError("tolist() shouldn't be called on a tensor with unallocated storage")
        array = self._readable_array()
        if array is None:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        if array.dtype.names:
            pairs = np.empty(array.shape, np.complex64)
            pairs.real, pairs.imag = array["real"], array["imag"]
            array = pairs
        elif array.dtype.kind == "V" or not array.dtype.isbuiltin:
            array = array.astype("float32")
        return array.tolist()

    def is_nonzero(self) -> bool:
        """Return whether the only element is not zero; RuntimeError with torch's text for other counts.

        >>> torch.tensor([3]).is_nonzero()
        True
        """
        return bool(self)

    def __bool__(self) -> bool:
        numel = self._sig.spec.numel
        if numel != 1:
            what = "no values" if numel == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._real_item("int64_t"))

    def __float__(self) -> float:
        self._end_gradient()
        return float(self._real_item("double"))

    def __complex__(self) -> complex:
        self._end_gradient()
        return complex(self._single())

    def _end_gradient(self) -> None:
        """Give the notice of a number without gradient, where a gradient is asked for. torch gives none for `int`."""
        if self._sig.requires_grad and state.mode.grad:
            warn_once(_LOST_GRADIENT)

    def _single(self) -> Any:
        if self._sig.spec.numel != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def _real_item(self, kind: str) -> Any:
        """Return the value as a real number; RuntimeError when it has an imaginary part."""
        value = self._single()
        if isinstance(value, complex):
            if value.imag != 0:
                raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
            return value.real
        return value

    def __index__(self) -> int:
        dtype = self._sig.spec.dtype
        if self._sig.spec.numel != 1 or dtype.is_floating_point or dtype.is_complex:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        shape = self._sig.spec.shape
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self._sig.spec.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(aten.unbind(self, 0))

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, (TensorBase, int, float, complex)):
            return bool(aten.any(aten.eq(self, element)).item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def cpu(self, memory_format: Any = None) -> Self:
        """Return this tensor in host memory; itself when it is there already.

        >>> torch.ones(2).cpu().device
        device(type='cpu')
        """
        return self.to(_HOST) if memory_format is None else self.to(_HOST, memory_format=memory_format)  # type: ignore[attr-defined]

    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Self:
        """Raise torch's error of a build without CUDA."""
        raise _absent("cuda", device)

    def xpu(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Self:
        """Raise torch's error of a build without XPU."""
        raise _absent("xpu", device)

    def mtia(
        self, device: str | Device | None = None, non_blocking: bool = False, memory_format: object = None
    ) -> NoReturn:
        """Raise torch's error of a build without MTIA."""
        if device is not None and Device(device).type != "mtia":
            raise _absent("mtia", device)
        raise AssertionError(
            "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in "
            "your python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
        )

    def to_sparse_coo(self) -> Self:
        """Return this tensor with the layout of coordinates.

        >>> torch.eye(2).to_sparse_coo().indices()
        tensor([[0, 1],
                [0, 1]])
        """
        return aten.to_sparse(self)

    def ipu(
        self, device: str | Device | None = None, non_blocking: bool = False, memory_format: object = None
    ) -> NoReturn:
        """Raise torch's error of a build without IPU."""
        if device is not None and Device(device).type != "ipu":
            raise _absent("ipu", device)
        raise RuntimeError("PyTorch is not linked with support for ipu devices")

    def npu(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Self:
        """Return this tensor on an Ascend NPU."""
        target = Device("npu", device) if isinstance(device, int) else Device(device or "npu")
        return self.to(target, non_blocking=non_blocking)  # type: ignore[attr-defined]

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return the type's name, or this tensor converted to `dtype` (a dtype, a name, a tensor type).

        >>> torch.ones(1).type()
        'torch.FloatTensor'
        >>> torch.ones(1).type(torch.int64)
        tensor([1])
        """
        if dtype is None:
            spec = self._sig.spec
            if type(spec) is CompressedSpec:
                raise RuntimeError("Unimplemented backend SparseCsrCPU")
            name = spec.dtype.type_name
            kind = "" if spec.device.type == "cpu" else f"{spec.device.type}."
            layout = "sparse." if spec.layout is sparse_coo else ""
            return name.replace("torch.", f"torch.{kind}{layout}", 1)
        if isinstance(dtype, str):
            named = dtype.replace("torch.sparse.", "torch.", 1) if self._sig.spec.layout is sparse_coo else dtype
            found = next((one for one in dtypes.ALL_DTYPES if one.type_name == named), None)
            if found is None:
                raise ValueError(f"invalid type: '{dtype}'")
            dtype = found
        elif isinstance(dtype, type):
            if dtype is wired.tensor_class:
                return self.to(get_default_dtype())  # type: ignore[attr-defined]
            if not hasattr(dtype, "dtype"):
                raise ValueError(f"invalid type: '{dtype.__name__}'")
            dtype = dtype.dtype
        elif not isinstance(dtype, dtypes.dtype):
            raise TypeError("dtype must be a type, str, or dtype object")
        return self.to(dtype)  # type: ignore[attr-defined]


def _named_conversion(name: str, dtype: Any) -> Any:
    def convert(self: Any, memory_format: Any = None) -> Any:
        return self.to(dtype) if memory_format is None else self.to(dtype, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = (
        f"Return this tensor as {dtype}; itself when it is that already.\n\n>>> torch.ones(1).{name}().dtype\n{dtype}"
    )
    return convert


NAMED_DTYPES = {
    "float": dtypes.float32,
    "double": dtypes.float64,
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "bool": dtypes.bool,
    "byte": dtypes.uint8,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
    "chalf": dtypes.complex32,
}
"""Methods that convert to a dtype."""

for _name, _dtype in NAMED_DTYPES.items():
    setattr(ConversionMixin, _name, _named_conversion(_name, _dtype))
    shortcuts[_name] = ("to", type(None), (_dtype,))
shortcuts["cpu"] = ("to", type(None), (_HOST,))


def _absent(kind: str, device: Any) -> Exception:
    """The error of a call that asks for a device of an absent kind."""
    if device is not None and Device(device).type != kind:
        return RuntimeError(f"Invalid device, must be {kind} device")
    return AssertionError(f"Torch not compiled with {kind.upper()} enabled")
