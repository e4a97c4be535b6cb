"""What a torch built without an accelerator does when that accelerator is used.

Queries answer that there is none, seeding is remembered for nobody, and everything that needs the device raises. The
texts and types are those of torch's CPU build, also where they name a function that build lacks: programs that guard
against its absence guard against exactly these.

The functions that all such accelerators have are written once, in the modules beside this one. `own_copies` gives each
accelerator's module functions of its own: programs see `torch.cuda.memory_stats` and `torch.xpu.memory_stats`.
"""

import ctypes
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal, NoReturn

from mindtorch_storage.device import device as Device

DeviceLike = Device | str | int | None

_HERE = __name__
"""As this module was named when it was imported; the proxy names it anew afterwards, and functions keep what they had."""
KIND: Any = object()
"""Stands in a signature for the type of the accelerator that the function is copied for."""


def _words(text: str | None, kind: str) -> str | None:
    """Return a docstring whose example names the type of the accelerator where the shared text has KIND."""
    return text and text.replace("with KIND", f"with {kind.upper()}").replace("KIND", kind)


def own_copies(namespace: dict[str, Any], kind: str) -> None:
    """Replace the functions that a module (pass ``globals()``) took from beside this one by copies that belong to it.

    A copy reads the names of that module, `refuse` and `_kind` above all, and of its own for what is not there.
    """
    namespace["_kind"] = kind
    for name, given in list(namespace.items()):
        if not isinstance(given, FunctionType) or not given.__module__.startswith(f"{_HERE}."):
            continue
        defaults = tuple(kind if value is KIND else value for value in given.__defaults__ or ())
        made = FunctionType(given.__code__, namespace, name, defaults or None, given.__closure__)
        made.__annotations__, made.__doc__ = given.__annotations__, _words(given.__doc__, kind)
        made.__module__ = namespace["__name__"]
        namespace[name] = made
        for used in given.__code__.co_names:
            if used in given.__globals__:
                namespace.setdefault(used, given.__globals__[used])


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

    def seed(self, seed: int) -> None:
        """Remember the seed of the current device."""
        value = int(seed)
        self.add(lambda: value, seed=True)

    def seed_all(self, seed: int) -> None:
        """Remember the seed of all devices."""
        value = int(seed)
        self.add(lambda: value, seed_all=True)

    def state(self, state: Any) -> None:
        """Remember the state of a generator, as it is now."""
        kept = state.clone()
        self.add(lambda: kept)


class device:
    """Context manager that selects a device; raises on entry, there is none.

    The subclasses name their `kind` and raise with torch's text in `exchange`, which is given the index. The base has their
    name, as texts about its arguments show it.
    """

    kind: str

    def __init__(self, device: Any) -> None:
        self.idx = device_index(self.kind, device, optional=True)
        self.prev_idx = -1

    def exchange(self, index: Any) -> int:
        """Select a device and return the index of the one before; raises, there is none."""
        raise NotImplementedError

    def __enter__(self) -> None:
        self.prev_idx = self.exchange(self.idx)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> Literal[False]:
        self.idx = self.exchange(self.prev_idx)
        return False


def index_of(kind: str, tensor: Any) -> int:
    """Return the index of the accelerator of type ``kind`` that a tensor or storage is on, -1 for another device."""
    return int(tensor.get_device()) if getattr(tensor, f"is_{kind}") else -1


class StreamContext:
    """Context manager that selects a stream. Without a device it does nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.idx = -1

    def __enter__(self) -> None:
        return None

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        return None


class Allocator:
    """An allocator of device memory."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator

    def allocator(self) -> Any:
        """Return the native allocator."""
        return self._allocator


def load_allocator(path: str, functions: tuple[str, str], binding: str) -> NoReturn:
    """Load a library with an allocator's functions, then raise that ``binding``, which takes them, is missing."""
    library = ctypes.CDLL(path)
    for name in functions:
        if ctypes.cast(getattr(library, name), ctypes.c_void_p).value is None:
            raise RuntimeError(f"{path} has no function {name}")
    no_binding(binding)
