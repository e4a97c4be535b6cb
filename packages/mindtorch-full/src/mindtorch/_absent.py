"""What a torch built without an accelerator does when that accelerator is used.

Queries answer that there is none, seeding is remembered for nobody, and everything that needs the device raises. The
texts and types are those of torch's CPU build, also where they name a function that build lacks: programs that guard
against its absence guard against exactly these.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch_storage.device import device as Device

DeviceLike = Device | str | int | None


def no_binding(name: str) -> NoReturn:
    """Raise what torch raises where its Python code calls a native function that this build lacks."""
    raise AttributeError(f"module 'torch._C' has no attribute {name!r}")


def dummy_base(name: str) -> Any:
    """Return a base class that stands for a native one this build lacks: none of its subclasses can be made."""

    def refuse(cls: type, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(f"Tried to instantiate dummy base class {cls.__name__}")

    return type(name, (), {"__new__": refuse, "__doc__": f"Stands for the native class {name}; cannot be made."})


def device_index(kind: str, device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """Return the index that ``device`` names for accelerators of type ``kind``.

    Args:
        optional: None and a device without index are allowed and give None, as there is no current device.
        allow_cpu: a CPU device is allowed and gives -1.

    Raises:
        ValueError: another type of device, or no index where one is needed.
    """
    given = Device(device) if isinstance(device, str) else device
    index = None
    if isinstance(given, Device):
        if allow_cpu and given.type not in (kind, "cpu"):
            raise ValueError(f"Expected a {kind} or cpu device, but got: {given}")
        if not allow_cpu and given.type != kind:
            raise ValueError(f"Expected a {kind} device, but got: {given}")
        index = -1 if given.type == "cpu" else given.index
    elif isinstance(given, int):
        index = given
    if index is None and not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{given}")
    return index


class SeedQueue:
    """Calls that wait for an initialisation which never comes. Of the seeds only the last is kept, as in torch."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], object]] = []
        self._seed_all: Callable[[], object] | None = None
        self._seed: Callable[[], object] | None = None

    def add(self, call: Callable[[], object], *, seed_all: bool = False, seed: bool = False) -> None:
        """Remember ``call``."""
        if seed_all:
            self._seed_all, self._seed = call, None
        elif seed:
            self._seed = call
        else:
            self.calls.append(call)
