"""The planner's first stage: on which device a call runs and which dispatch keys it passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.quantized import QuantizedSpec
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS, CompressedSpec, SparseSpec
from mindtorch_storage.tensor_base import TensorBase

from ..defaults import get_default_device
from ..errors import missing_backend
from ..execute.arrays import resolve, shows_device
from ..interface.batching import BATCHED_MASK
from ..interface.batching import hooks as batching
from ..keys import BACKEND_KEYS, DEVICE_TYPES, DispatchKey, DispatchKeySet
from ..override.interception import check_memory, intercepted
from ..state import AUTOGRAD_MASK
from ..table import OpRow, RowKind
from .call import Call
from .plan import Plan
from .targets import adopt_options

BACKENDS = sum(1 << key for key in DEVICE_TYPES)
_AUTOGRAD = 1 << DispatchKey.Autograd


def find_keys(call: Call) -> Plan | None:
    """Find the call's device and keys, which one that Python handles has no need of. Of a batched one return the plan."""
    bound, tensors = call.bound, call.tensors
    wraps = any(tensor._wraps for tensor in tensors)
    if not wraps and intercepted(call.mode, [*tensors, *call.outs]):
        call.intercepted = True
        return None
    default = call.mode.default_device
    if default is not None and not tensors and default.index is None and shows_device(default):
        bound.cacheable = False  # the mode, which stands in the key, does not show which device is current
    named: bool | None = None
    for place, value in enumerate(bound.values):
        if isinstance(value, Device) and value.type != "cpu":
            if named is None:
                named = any(map(shows_device, bound.flat))  # as the key showed it, before a backend is loaded
            bound.values[place] = resolve(value)
            # Another device may be current at the next call, which a key shows where the call names the device.
            bound.cacheable = bound.cacheable and (named or value.index == bound.values[place].index)
    if bound.out is not None or call.row.kind is RowKind.INPLACE:
        adopt_options(bound)
    if wraps or call.mode.include & BATCHED_MASK:
        batched = batching.plan(bound, tensors)
        if batched is not None:
            return batched
    check_memory(tensors)
    call.device = common_device(call.row, tensors, bound.values)
    call.keys = key_set(call)
    return None


def _mixed(found: Device, device: Device) -> RuntimeError:
    """Torch's error for operands on two devices: meta kernels word it in their own way."""
    if "meta" in (found.type, device.type):
        return RuntimeError(f"Tensor on device {device} is not on the expected device {found}!")
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {found} and {device}!"
    )


def common_device(row: OpRow, tensors: Sequence[TensorBase], values: Sequence[Any]) -> Device:
    """Return the device the call runs on; torch's error when the tensors' devices differ."""
    given = next((value for value in values if isinstance(value, Device)), None)
    if given is not None and (not tensors or row.variants != ("method",) or row.meta is not None):
        return given
    found: Device | None = None
    for tensor in tensors:
        device = tensor._sig.spec.device  # a subclass may say another one to its users, as torch's dispatcher knows
        if found is None or found == device:
            found = device
        elif row.meta is None:
            continue  # the ops it is composed of say what they take
        elif getattr(row.meta, "mixed_devices", False):
            found = found if device.type == "cpu" else device
        elif tensor._sig.spec.ndim == 0 and device.type == "cpu":
            continue
        elif found.type == "cpu" and all(t._sig.spec.ndim == 0 for t in tensors if t._sig.spec.device == found):
            found = device
        else:
            raise _mixed(found, device)
    return found or get_default_device()


def key_set(call: Call) -> DispatchKeySet:
    """Return the keys this call passes, guards applied; a sparse layout among its options is one."""
    mode, tensors, device_type = call.mode, call.tensors, call.device.type
    if device_type not in BACKEND_KEYS:
        raise missing_backend(call.row, call.bound.values, device_type)
    mask = 1 << BACKEND_KEYS[device_type]
    kinds = set()
    for tensor in tensors:
        sig = tensor._sig
        kinds.add(type(sig.spec))
        if sig.requires_grad and mode.records:
            mask |= _AUTOGRAD
    options = [value for value in call.bound.values if type(value) is Layout]
    call.compressed = CompressedSpec in kinds or any(one in COMPRESSED_LAYOUTS for one in options)
    if call.compressed or SparseSpec in kinds or sparse_coo in options:
        mask |= 1 << DispatchKey.Sparse
    if QuantizedSpec in kinds:
        mask |= 1 << DispatchKey.Quantized
    if mode.autocast is not None:
        mask |= 1 << DispatchKey.Autocast
    mask = (mask | mode.include & ~BATCHED_MASK) & ~mode.exclude
    return DispatchKeySet(_with_registrations(call, mask) if "entry" in call.row.__dict__ else mask)


def _with_registrations(call: Call, mask: int) -> int:
    """Return the keys of an operator with registrations; the mode loses what those let the call pass by.

    A registered Autograd kernel is asked whether or not a gradient is needed, as in torch; only tensors of inference
    mode have no such key. Without tensors only kernels that serve every backend apply.
    """
    entry = call.row.__dict__["entry"]
    if entry.declared and not call.tensors and not any(isinstance(value, Device) for value in call.bound.values):
        return mask & ~BACKENDS
    asked = DispatchKey.Autograd in entry.boxed and not call.mode.exclude & AUTOGRAD_MASK
    if asked and any(not tensor._sig.inference for tensor in call.tensors):
        mask |= AUTOGRAD_MASK
    passed = sum(1 << key for key in entry.fallthrough if key not in DEVICE_TYPES)
    if passed:
        call.mode = call.mode.replace(exclude=call.mode.exclude | passed)
    found: int = mask & ~passed
    return found
