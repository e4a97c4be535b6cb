"""How a storage gets to another device, to page-locked memory, or to another class."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from mindtorch_storage.deferred import settle
from mindtorch_storage.device import accelerator
from mindtorch_storage.device import device as Device
from mindtorch_storage.lazy_import import load
from mindtorch_storage.storage import memory
from mindtorch_storage.storage.elements import class_name

NO_PINNED_MEMORY = (
    "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this "
    "system."
)


DeviceLike: TypeAlias = "Device | str | int | None"
"""What names a device; None the one that a function is about."""


class Movable(Protocol):
    """What the methods below need of a storage."""

    buffer: Any

    @property
    def device(self) -> Device: ...
    def nbytes(self) -> int: ...
    def is_pinned(self) -> bool: ...
    def to(self, *, device: DeviceLike, non_blocking: bool = False) -> Any: ...
    def type(self) -> Any: ...
    def _from_allocation(self, allocation: Any) -> Any: ...


class Classes:
    """The storage classes that names such as `torch.FloatStorage` mean."""

    named: ClassVar[dict[str, Any]] = {}


def check_device_argument(function: str, device: object) -> None:
    """Refuse what names no device, with the text of `function`'s first argument: TypeError, RuntimeError."""
    if isinstance(device, bytes):
        device = device.decode()
    if isinstance(device, str):
        Device(device)
    elif isinstance(device, int | np.integer) and not isinstance(device, bool):
        if device < 0:
            raise RuntimeError("Device index must not be negative")
        if accelerator() is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
    elif device is not None and not isinstance(device, Device):
        kind = class_name(device)
        raise TypeError(f"{function}(): argument 'device' (position 1) must be torch.device, not {kind}")


def check_pinning_device(device: DeviceLike) -> None:
    """Refuse what memory cannot be pinned for; RuntimeError with torch's texts."""
    kind = None if device is None else Device(device).type
    if kind in ("cpu", "meta"):
        raise RuntimeError(f"{kind.upper()} device type not an accelerator.")
    if kind not in (None, accelerator()):
        raise RuntimeError(f"Cannot initialize {kind.upper()} without ATen_{kind} library.")
    if not memory.can_pin():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def _class_named(name: str) -> Any:
    module, _, kind = name.rpartition(".")
    if name in Classes.named:
        return Classes.named[name]
    if module == "torch.cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    return getattr(load(module or name), kind)


class ConversionMethods:
    """`to` and its relatives, `pin_memory`, `type`."""

    __slots__ = ()

    def pin_memory(self: Movable, device: DeviceLike = None) -> Any:
        """This storage when it is page locked, else a copy that is; RuntimeError without an accelerator."""
        check_device_argument("pin_memory", device)
        check_pinning_device(device)
        if self.device.type != "cpu":
            raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
        if self.is_pinned():
            return self
        settle()
        made = self._from_allocation(memory.pinned_memory[0](self.nbytes()))
        if self.nbytes():
            made.buffer[:] = self.buffer
        return made

    def cpu(self: Movable) -> Any:
        """This storage when it is on the CPU, else a copy there."""
        return self.to(device="cpu")

    def cuda(self: Movable, device: DeviceLike = None, non_blocking: bool = False) -> Any:
        """A copy on a CUDA device; AssertionError where there is none."""
        return self.to(device="cuda" if device is None else Device("cuda", device), non_blocking=non_blocking)

    def hpu(self: Movable, device: DeviceLike = None, non_blocking: bool = False) -> Any:
        """A copy on an HPU device; AssertionError where there is none."""
        return self.to(device="hpu" if device is None else Device("hpu", device), non_blocking=non_blocking)

    def npu(self: Movable, device: DeviceLike = None, non_blocking: bool = False) -> Any:
        """A copy on an Ascend device; RuntimeError where there is none."""
        target = Device("npu", device) if isinstance(device, int) else Device(device or "npu")
        return self.to(device=target, non_blocking=non_blocking)

    def mps(self: Movable) -> Any:
        """A copy on an MPS device; RuntimeError where there is none."""
        return self.to(device="mps")

    def to(self: Movable, *, device: DeviceLike, non_blocking: bool = False) -> Any:
        """This storage when it is on the device, else a copy there."""
        target = Device(device)
        if target.type == self.device.type and target.index in (None, self.device.index):
            return self
        if target.type == "hpu":
            raise AssertionError("HPU device module is not loaded")
        made: Any = type(self)
        return made(self.nbytes(), device=target).copy_(self)

    def type(self: Movable, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of this class, or a storage of another class made for as many elements as this one has bytes.

        As in torch the bytes are then copied, so that only empty storages arrive; others raise RuntimeError.
        """
        if dtype is None:
            return "torch.storage.UntypedStorage"
        kind = _class_named(dtype) if isinstance(dtype, str) else dtype
        if kind is self.__class__:
            return self
        if kind.is_sparse:
            raise RuntimeError("Cannot cast dense tensor to sparse tensor")
        return kind(self.nbytes()).copy_(self, non_blocking)
