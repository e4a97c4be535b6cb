"""`Tensor` towards numpy and DLPack, without copies."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from mindtorch.tensor.capsules import capsule_of, is_exchanged
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override.handlers import dispatches
from mindtorch_dispatch.override.overrides import handle, overriding
from mindtorch_dispatch.plan import plain_types
from mindtorch_dispatch.state import state
from mindtorch_storage import dtype as types
from mindtorch_storage.layout import layout_name, strided
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

_devices = LazyModule("mindtorch.tensor.device_capsules", "only capsules of devices' memory need it")
_functions = LazyModule("mindtorch.functions.interop", "it makes tensors, which this module is a part of")

# Types that numpy itself has; the rest of a tensor's types come from ml_dtypes, which torch does not hand out.
NUMPY_TYPES = frozenset(
    (
        types.float64, types.float32, types.float16, types.complex64, types.complex128, types.int64, types.int32,
        types.int16, types.int8, types.uint64, types.uint32, types.uint16, types.uint8, types.bool,
    )
)  # fmt: skip


class DLDeviceType(enum.IntEnum):
    """Device codes of the DLPack standard.

    >>> int(torch.utils.dlpack.DLDeviceType.kDLCPU), torch.ones(1).__dlpack_device__()
    (1, (<DLDeviceType.kDLCPU: 1>, 0))
    """

    __module__ = "torch.utils.dlpack"

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def _check_target(device: Any, target: Any, copy: bool | None) -> None:
    """Refuse a DLPack device other than the CPU: where it is unknown, or memory would have to be copied there."""
    if target is None:
        return
    if not isinstance(target, tuple | list):
        raise TypeError(f"_to_dlpack(): argument 'dl_device' must be tuple of ints, not {type(target).__name__}")
    kind, index = target
    own = (DLDeviceType.kDLExtDev, device.index or 0) if device.type == "npu" else (DLDeviceType.kDLCPU, index)
    if (kind, index) == own:
        return
    if device.type == "npu":
        if copy is False:
            raise ValueError(
                f"cannot move (i.e. copy=False) tensor from {device} to {(int(kind), index)} without copying."
            )
        raise BufferError(f"Cannot pack a tensor of {device} for the DLPack device {(int(kind), index)}")
    name = {2: "cuda", 10: "cuda", 14: "xpu", 17: "maia"}.get(kind)
    if name is None:
        raise BufferError(f"Unsupported device_type: {int(kind)}")
    if copy is False:
        raise ValueError(f"cannot move (i.e. copy=False) tensor from {device} to {name}:{index} without copying.")
    raise BufferError(f"Cannot pack a tensor of {device} for the DLPack device {(int(kind), index)}")


class InteropMixin(TensorBase):
    """`numpy()`, the array protocol, DLPack."""

    __slots__ = ()
    __array_priority__ = 1000

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The elements as an array over the same memory; `force` detaches and copies to the host first.

        >>> torch.arange(3).numpy()
        array([0, 1, 2])
        """
        tensor: Any = self
        if force:
            tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        if type(tensor) not in plain_types and dispatches(type(tensor)):
            raise RuntimeError(".numpy() is not supported for tensor subclasses.")
        spec = tensor._sig.spec
        if spec.layout is not strided:
            raise TypeError(
                f"can't convert {layout_name(spec.layout)} layout tensor to numpy. Use Tensor.to_dense() first."
            )
        if spec.device.type != "cpu":
            raise TypeError(
                f"can't convert {spec.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                "memory first."
            )
        if tensor._sig.requires_grad and state.mode.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if spec.dtype not in NUMPY_TYPES:
            raise TypeError(f"Got unsupported ScalarType {spec.dtype.scalar_name}")
        # From now on somebody else relies on this memory: it has a storage, which stays where it is.
        array = tensor._host_array()
        tensor._materialized_storage()._lend(resizable=False)
        return array.view()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Absent: AttributeError, as for any tensor that is not on a CUDA device."""
        tensor: Any = self
        if overriding(self):
            getter = vars(InteropMixin)["__cuda_array_interface__"].__get__
            handled, result = handle(getter, (self,), {})
            if handled:
                return result  # type: ignore[no-any-return]
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {tensor.type()} If CUDA data is required use "
            "tensor.cuda() to copy tensor to device memory."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """What `np.asarray(tensor)` calls."""
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"Unable to avoid copy: the tensor is {array.dtype}, not {np.dtype(dtype)}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Make a tensor of what a numpy function computed from this one."""
        if array.dtype == bool:
            # A comparison by numpy gives bytes, as it did before torch had a bool type.
            array = array.astype("uint8")
        return wired.from_array(array)

    def __dlpack__(
        self,
        *,
        stream: Any = -1,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over this tensor's memory."""
        spec = self._sig.spec
        if self._sig.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.is_conj():
            raise BufferError("Can't export tensors with the conjugate bit set")
        if spec.layout is not strided:
            raise BufferError("Can't export tensors with layout other than torch.strided")
        if stream is not None and type(stream) is not int:
            raise TypeError("stream must be ``int`` or ``none``")
        if spec.device.type == "npu":
            _check_target(spec.device, dl_device, copy)
            here: Any = self.clone() if copy else self
            return _devices.device_capsule(here, max_version is not None and max_version[0] >= 1)
        if spec.device.type != "cpu":
            raise BufferError(f"Cannot pack tensors on {spec.device}")
        if stream not in (None, -1):
            raise AssertionError("stream should be None on cpu.")
        _check_target(spec.device, dl_device, copy)
        if spec.dtype not in NUMPY_TYPES and not is_exchanged(spec.dtype):
            raise BufferError(f"{spec.dtype} types are not supported by dlpack")
        array = self._host_array()
        if copy:
            array = array.copy()
        else:
            self._materialized_storage()._lend()
        if max_version is None or max_version[0] < 1:
            return capsule_of(array, spec.dtype)
        return capsule_of(array, spec.dtype, max_version=(1, 0))

    def __dlpack_device__(self) -> tuple[DLDeviceType, int]:
        """The DLPack device of this tensor."""
        device = self._sig.spec.device
        kinds = {"cpu": DLDeviceType.kDLCPU, "npu": DLDeviceType.kDLExtDev}
        if device.type not in kinds:
            raise ValueError(f"Unknown device type {device.type} for Dlpack")
        return kinds[device.type], device.index or 0


wired.from_array = lambda array: _functions.from_numpy(array)
