"""Exceptions that kernels raise and users catch by torch's names, and those that several modules word alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.absent_devices import start_error
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import strided
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from .keys import BACKEND_KEYS
from .table import OpRow

__all__ = [
    "LinAlgError",
    "bounds_error",
    "missing_backend",
    "missing_kernel",
    "missing_registration",
    "not_differentiable",
]


class LinAlgError(RuntimeError):
    """A matrix that cannot be factored or inverted: `torch.linalg.LinAlgError`.

    >>> try:
    ...     torch.linalg.inv(torch.zeros(2, 2))
    ... except torch.linalg.LinAlgError as error:
    ...     print(str(error)[:60])
    linalg.inv: The diagonal element 1 is zero, the inversion co
    """


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def bounds_error(spec: Spec, offset: int, storage: Any) -> RuntimeError:
    """Return torch's error for a geometry that reaches beyond its storage."""
    if offset < 0:
        return RuntimeError(f"Tensor: invalid storage offset {offset}")
    if spec.numel >= 2**63:
        return RuntimeError("numel: integer multiplication overflow")
    if spec.nbytes >= 2**63:  # more bytes than numpy counts, although the storage may hold the few that are reached
        return RuntimeError(f"Storage size calculation overflowed with sizes={list(spec.shape)}")
    span = sum((extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True)) + 1
    return RuntimeError(
        f"setStorage: sizes {list(spec.shape)}, strides {list(spec.stride)}, storage offset {offset}, and itemsize "
        f"{spec.itemsize} requiring a storage size of {(offset + span) * spec.itemsize} are out of bounds for storage of "
        f"size {storage.nbytes()}"
    )


def not_differentiable(function: str, argument: str) -> RuntimeError:
    """Return torch's error where an argument without a derivative requires grad."""
    return RuntimeError(
        f"The function '{function}' is not differentiable with respect to argument '{argument}'. This input cannot have "
        "requires_grad True."
    )


def missing_kernel(row: OpRow, device: Device, dtype: Dtype | None) -> NotImplementedError:
    """Return the error for an op without a kernel on this device; torch's where results depend on bytes that meta lacks."""
    if device.type == "meta":
        return NotImplementedError(
            f"{row.aten_name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
            "registered. You may have run into this message while using an operator with PT2 compilation APIs "
            "(torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. "
            "Please see the following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
        )
    return NotImplementedError(
        f"{row.aten_name}: no kernel for device '{device.type}'"
        + (f" (dtype {dtype})" if dtype is not None else "")
        + f"; add one in the backend's ops (see CONTRIBUTING.md), or compose {row.name!r} from other ops"
    )


def missing_tensors(name: str, registered: Sequence[str]) -> NotImplementedError:
    """Return torch's error for a call without tensors: they would say which of the registered functions is meant."""
    return NotImplementedError(
        "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no "
        f"fallback function is registered for schema {name}.  This usually means that this function requires a "
        "non-empty list of Tensors, or that you (the operator writer) forgot to register a fallback function.  "
        f"Available functions are [{', '.join(registered)}].\n"
    )


def missing_registration(row: OpRow, tensors: Sequence[TensorBase], device: Device) -> Exception:
    """Return torch's error for an operator that was declared but has no kernel for the call at hand."""
    name = row.schema.qualified_name
    entry = row.__dict__.get("entry")
    if device.type == "meta" and entry is not None and entry.missing_fake:
        base = row.schema.base_name
        unplaced = f"{base} does not have a kernel registered for meta. Please use register_kernel to do so."
        return RuntimeError(entry.missing_fake if tensors else unplaced)
    if device.type == "meta" and tensors:
        return missing_kernel(row, device, None)
    registered = [] if entry is None else [key for key, found in entry.registrations.items() if found]
    if not tensors:
        return missing_tensors(name, registered)
    shown = f"[{', '.join(registered)}]"
    return _missing_backend(name, {"cpu": "CPU", "npu": "NPU"}.get(device.type, "PrivateUse1"), shown)


def missing_backend(row: OpRow, values: Sequence[Any], device_type: str) -> Exception:
    """Return torch's error for a call on a device that nothing in this program serves.

    Torch starts some devices where a call names them; others are missed by the copy to them, or by the factory that
    gives the result its memory.
    """
    error = start_error(device_type)
    if error is not None:
        return error
    name = row.aten_name.partition("::")[2].partition(".")[0]
    sparse = any(type(value) is Layout and value is not strided for value in values)
    if name in _WRITERS and device_type != "lazy":
        return RuntimeError(f"PyTorch is not linked with support for {device_type} devices")
    if sparse and device_type in (*_CAFFE2, "fpga", "maia", "vulkan"):
        return NotImplementedError(f"Unsupported device type for sparse layout: {device_type}")
    if device_type in _CAFFE2:
        return RuntimeError(
            '0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/c10/core/TensorOptions.h":663, please report a bug to '
            f"PyTorch. This is a grandfathered Caffe2 device type {device_type}, it shouldn't ever convert to a "
            "DispatchKey.  File a bug describing what you were doing if you think this is in error."
        )
    kind = "Sparse" if sparse else "Quantized" if name == "_empty_affine_quantized" and device_type != "vulkan" else ""
    backend = kind + _BACKENDS.get(device_type, device_type.upper())
    factory = name if name in _FACTORIES else "empty_strided" if name.endswith("_like") else "empty.memory_format"
    served = sorted(key.name for key in set(BACKEND_KEYS.values()))
    return _missing_backend(f"aten::{factory}", backend, f"[{', '.join(served)}]")


# Device types of Caffe2, which have no dispatch key; those whose key is not the name in capitals; the operators that
# write into memory which another one allocates; the factories with a kernel of their own.
_CAFFE2 = ("opengl", "opencl", "ideep", "mkldnn")
_BACKENDS = {"lazy": "Lazy", "vulkan": "Vulkan"}
_WRITERS = ("_to_copy", "copy_", "range", "to")
_FACTORIES = ("empty_strided", "tril_indices", "triu_indices", "_empty_affine_quantized")


def _missing_backend(name: str, backend: str, registered: str) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run '{name}' with arguments from the '{backend}' backend. This could be because the operator "
        "doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom "
        "build). If you are a Facebook employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for "
        f"possible resolutions. '{name}' is only available for these backends: {registered}.\n"
    )
