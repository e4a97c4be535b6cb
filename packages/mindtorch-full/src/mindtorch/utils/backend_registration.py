"""The device of another distribution: its name, and methods of tensors and modules that move there."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.execute.arrays import array_types
from mindtorch_storage.device import device as Device
from mindtorch_storage.device import let_stand_for, name_device

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]

_IN_TREE = ("cpu", "cuda", "hip", "mps", "mtia", "xpu", "hpu", "xla", "meta", "maia", "vulkan", "ipu", "ve", "fpga")
_ASCEND = "npu"
_chosen: dict[str, str] = {}


def rename_privateuse1_backend(backend_name: str) -> None:
    """Give the device type of other distributions its name, once; where the Ascend backend is in use that is `npu`.

    >>> torch.utils.rename_privateuse1_backend("cpu")
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot register privateuse1 backend with in-tree device name: cpu
    """
    if backend_name in _IN_TREE:
        raise RuntimeError(f"Cannot register privateuse1 backend with in-tree device name: {backend_name}")
    taken = _chosen.get("name") or (_ASCEND if _ASCEND in array_types else backend_name)
    if backend_name != taken:
        raise RuntimeError(f"torch.register_privateuse1_backend() has already been set! Current backend: {taken}")
    _chosen["name"] = backend_name
    if backend_name != _ASCEND:
        name_device(backend_name)
        let_stand_for("privateuseone", backend_name)


def _get_privateuse1_backend_name() -> str:
    """The name of the out-of-tree device."""
    return _chosen.get("name", _ASCEND)


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: Any = None,
) -> None:
    """Give `Tensor`, `nn.Module` and packed sequences the method that moves to the device, and tensors `is_<name>`.

    `npu` has them already. RuntimeError where a class has the attribute; NotImplementedError for storages.
    """
    name = _get_privateuse1_backend_name()
    if name == _ASCEND:
        return
    if for_storage:
        raise NotImplementedError("generate_methods_for_privateuse1_backend: storages have no methods of the device")
    if for_tensor:
        _add(torch.Tensor, f"is_{name}", property(lambda self: self.device.type == name))
        _add(torch.Tensor, name, _tensor_method(name))
    if for_module:
        if not hasattr(torch.Tensor, name):
            raise RuntimeError(
                f"Can not automatically generate {name}() method for torch.nn.Module.Because torch.Tensor doesn't has the "
                f"method {name}().For this error, you can try setting for_tensor=True."
            )
        _add(torch.nn.Module, name, lambda self, device=None: self._apply(lambda t: getattr(t, name)(device)))
    if for_packed_sequence:
        sequence = torch.nn.utils.rnn.PackedSequence
        _add(sequence, f"is_{name}", property(lambda self: self.data.device.type == name))
        _add(sequence, name, lambda self, *args, **kwargs: self.to(*args, device=kwargs.pop("device", name), **kwargs))


def _tensor_method(name: str) -> Any:
    def to_device(self: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        return self.to(device=_on(name, device), non_blocking=non_blocking, **kwargs)

    to_device.__name__ = name
    return to_device


def _on(name: str, device: Any) -> Device:
    if device is None:
        return Device(name)
    if isinstance(device, int):
        return Device(name, device)
    found = Device(device)
    if found.type != name:
        raise RuntimeError(f"Invalid device, must be {name} device")
    return found


def _add(kind: type, name: str, value: Any) -> None:
    if hasattr(kind, name):
        raise RuntimeError(f"The custom device module of {kind} has already been registered with {name}")
    setattr(kind, name, value)


adopt(globals())
