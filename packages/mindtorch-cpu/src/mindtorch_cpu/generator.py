"""`torch.Generator` on the CPU: a seedable source of torch's random stream, and the process's default one."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from mindtorch_dispatch.plan import opaque_types
from mindtorch_storage.annotations import bind_annotations
from mindtorch_storage.deferred import settle
from mindtorch_storage.device import device as Device
from mindtorch_storage.forking import hold_during_fork

from .random.engine import Engine

_INITIAL_SEED = 67280421310721
_WIDTH = 1 << 64
_CPU = Device("cpu")
_ABSENT_ACCELERATORS = {
    "cuda": "Cannot get CUDA generator without ATen_cuda library. PyTorch splits its backend into two shared "
    "libraries: a CPU library and a CUDA library; this error has occurred because you are trying to use some CUDA "
    "functionality, but the CUDA library has not been loaded by the dynamic linker for some reason.  The CUDA library "
    "MUST be loaded, EVEN IF you don't directly use any symbols from the CUDA library! One common culprit is a lack "
    "of -Wl,--no-as-needed in your link arguments; many dynamic linkers will delete dynamic library dependencies if "
    "you don't depend on any of their symbols.  You can check if this has occurred by using ldd on your binary to see "
    "if there is a dependency on *_cuda.so library.",
    "hip": "Backend doesn`t support getNewGenerator()",
    "hpu": "Backend doesn`t support getNewGenerator()",
    "mps": "Cannot execute getNewGenerator() without MPS backend.",
    "mtia": "Cannot execute getNewGenerator() without MTIA backend.",
    "privateuseone": "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first.",
    "xla": "Cannot get XLA generator without torch_xla library. This error has occurred because you are trying to use some "
    "XLA functionality, but the XLA library has not been loaded by the dynamic linker. You must load xla libraries by "
    "`import torch_xla`",
    "xpu": "Cannot get XPU generator without ATen_xpu library.",
}


class Generator:
    """A source of random numbers with its own state; every random function takes one as `generator=`.

    Who looks at the state or changes it first runs the draws that a pipeline has recorded.

    `lock` is held for the whole of one op: draws are serial, so that a stream has one meaning in every program.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=generator)
    tensor([0.4963, 0.7682])
    >>> generator.initial_seed()
    0
    """

    __slots__ = ("__weakref__", "engine", "lock")
    __module__ = "torch._C"

    engine: Engine
    lock: threading.Lock

    def __new__(cls, *args: object, **kwargs: object) -> Generator:
        device: Any = _device_argument(args, kwargs)
        maker = None if device is None else makers.get(Device(device).type)
        if maker is not None:
            return maker(Device(device))
        _check_device(device)
        self = object.__new__(cls)
        self.engine = Engine(_INITIAL_SEED)
        self.lock = threading.Lock()
        _living.add(self)
        return self

    @property
    def device(self) -> Device:
        """The device whose random numbers this generator makes."""
        return _CPU

    def manual_seed(self, seed: int, /) -> Generator:
        """Start the stream of `seed`; negative seeds count down from 2**64. Returns the generator."""
        number = unpack_seed(seed, "manual_seed")
        settle()
        with self.lock:
            self.engine.reseed(number)
        return self

    def seed(self) -> int:
        """Seed from the operating system's entropy and return the seed."""
        number = _entropy()
        settle()
        with self.lock:
            self.engine.reseed(number)
        return number

    def initial_seed(self) -> int:
        """Return the seed that the current stream started from."""
        return self.engine.seed

    def state_bytes(self) -> Any:
        """Return the state as a uint8 array in torch's layout of 5,056 bytes."""
        settle()
        with self.lock:
            return self.engine.state_bytes()

    def set_state_bytes(self, state: Any) -> None:
        """Continue from `state`, a uint8 array that `state_bytes` or torch made."""
        settle()
        with self.lock:
            self.engine.set_state_bytes(state)

    def get_state(self) -> Any:
        """Return the state as a byte tensor, for `set_state` here or in torch."""
        return _tensors["wrap"](self.state_bytes())

    def set_state(self, new_state: Any, /) -> Generator:
        """Continue from a byte tensor that `get_state` returned. Returns the generator."""
        self.set_state_bytes(_tensors["unwrap"](new_state))
        return self

    def clone_state(self) -> Generator:
        """Return a new generator that continues from the same point."""
        other = Generator()
        other.set_state_bytes(self.state_bytes())
        return other

    def get_offset(self) -> NoReturn:
        """Raise: only counter-based generators of accelerators have an offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int, /) -> NoReturn:
        """Raise: only counter-based generators of accelerators have an offset."""
        unpack_seed(offset, "manual_offset")
        raise RuntimeError("CPU Generator does not use offset")

    def graphsafe_get_state(self) -> NoReturn:
        """Raise: only accelerators that record graphs share generator states."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator, /) -> NoReturn:
        """Raise: only accelerators that record graphs share generator states."""
        if not isinstance(state, Generator):
            raise TypeError(f"expected a Generator, but got {type(state).__name__}")
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __reduce__(self) -> tuple[Any, ...]:
        known = getattr(sys.modules.get("torch"), "Generator", None) is type(self)
        return type(self) if known else _rebuild, (self.device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple[int, int | None, Any]) -> None:
        seed, _, bytes_tensor = state
        self.manual_seed(seed)
        self.set_state(bytes_tensor)


makers: dict[str, Callable[[Device], Generator]] = {}
"""By type of device what makes its generators; the layer that knows the devices puts it there."""


def _no_tensors(value: Any) -> NoReturn:
    raise RuntimeError("tensors of generator states need the mindtorch package; use state_bytes and set_state_bytes")


_tensors: dict[str, Callable[[Any], Any]] = {"wrap": _no_tensors, "unwrap": _no_tensors}


def set_state_tensors(wrap: Callable[[Any], Any], unwrap: Callable[[Any], Any]) -> None:
    """Install how a uint8 array becomes a byte tensor, and how a byte tensor is checked and becomes an array.

    The layer that owns the tensor class calls this once.
    """
    _tensors.update(wrap=wrap, unwrap=unwrap)


def _rebuild(device: Device) -> Generator:
    """Stand in for the class in pickles of processes where no module `torch` has it."""
    return Generator(device)


def _entropy() -> int:
    return int.from_bytes(os.urandom(8), "little")


def type_name(value: object) -> str:
    """Return the type's name as C code knows it: numpy's types carry their module."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def unpack_seed(value: Any, caller: str) -> int:
    """Return a number of 64 bits without its sign; torch's errors for what is none, in the name of `caller`."""
    if isinstance(value, np.integer):
        raise TypeError("an integer is required")
    if not isinstance(value, int) or isinstance(value, bool):
        raise RuntimeError(f"{caller} expected a long, but got {type_name(value)}")
    if not -(_WIDTH >> 1) <= value < _WIDTH:
        raise ValueError("Overflow when unpacking long long")
    return value % _WIDTH


def _device_argument(args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Return the one argument of `Generator(device="cpu")`; torch's errors for others."""
    if len(args) > 1:
        raise TypeError(f"Generator() takes from 0 to 1 positional arguments but {len(args)} were given")
    for name in kwargs:
        if name != "device":
            raise TypeError(f"Generator() got an unexpected keyword argument '{name}'")
    if args and kwargs:
        raise TypeError("Generator() got multiple values for argument 'device'")
    given = args[0] if args else kwargs.get("device")
    if given is not None and (isinstance(given, bool) or not isinstance(given, (str, int, Device))):
        where = " (position 1)" if args else ""
        raise TypeError(f"Generator(): argument 'device'{where} must be torch.device, not {type(given).__name__}")
    return given


def _check_device(device: Any) -> None:
    kind = "cpu" if device is None else Device(device).type
    if kind == "cpu":
        return
    if kind in _ABSENT_ACCELERATORS:
        raise RuntimeError(_ABSENT_ACCELERATORS[kind])
    raise RuntimeError(f"{kind.upper()} device type not an accelerator.")


_living: weakref.WeakSet[Generator] = weakref.WeakSet()


def _locks() -> list[threading.Lock]:
    # One order for all threads, lest two of them wait for each other.
    return [generator.lock for generator in sorted(_living, key=id)]


# A thread in the middle of a draw would leave the child with half a state.
hold_during_fork(_locks)

opaque_types.add(Generator)

bind_annotations(Generator, __name__)
default_generator = Generator()
"""The generator of every draw that names none; it starts from the operating system's entropy."""
default_generator.seed()
