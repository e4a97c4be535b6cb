"""Device, streams and seeds of MTIA, of which there is none: what needs the device raises as torch without it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import mindtorch as torch
from mindtorch import _utils
from mindtorch._absent import DeviceLike, SeedQueue
from mindtorch_storage.device import device as Device

_queue = SeedQueue()
_NOT_COMPILED = (
    "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in your"
    " python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
)


class DeferredMtiaCallError(Exception):
    """A call that waited for the initialisation failed; never raised, as there is none."""


def refuse(function: str) -> NoReturn:
    """Raise that a function of the device's runtime has nothing to run on."""
    raise RuntimeError(f"Cannot execute {function}() without MTIA backend.")


def init() -> None:
    """Initialise MTIA; raises, there is none.

    >>> torch.mtia.init()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with MTIA enabled. Ensure you have `import ...
    """
    _lazy_init()


def _lazy_init() -> None:
    raise AssertionError(_NOT_COMPILED)


def _get_device_index(device: DeviceLike, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """Return the index that a device names; where it names none and is optional, the current one is asked for."""
    given = Device(device) if isinstance(device, str) else device
    if (given.index if isinstance(given, Device) and given.type != "cpu" else given) is not None:
        return _utils._get_device_index(given, False, allow_cpu)
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {device}")
    refuse("getCurrentDevice")


def _of_device(device: DeviceLike, function: str) -> NoReturn:
    """Raise for a function of a device; the current one is looked up before it is called."""
    _get_device_index(device, optional=True)
    refuse(function)


def _lazy_call(callable: Callable[[], object], **kwargs: bool) -> None:
    """Queue ``callable`` for the initialisation."""
    _queue.add(callable, seed_all=kwargs.get("seed_all", False), seed=kwargs.get("seed", False))


def _is_compiled() -> bool:
    return False


def _is_in_bad_fork() -> bool:
    return False


def is_available() -> bool:
    """Return whether there is a device: False.

    >>> torch.mtia.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Return whether a device is in use: False.

    >>> torch.mtia.is_initialized()
    False
    """
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the device computes in bfloat16: True, as of every MTIA.

    >>> torch.mtia.is_bf16_supported()
    True
    """
    return True


def device_count() -> int:
    """Return how many devices there are: none.

    >>> torch.mtia.device_count()
    0
    """
    return 0


def current_device() -> int:
    """Return the current device; raises, there is none.

    >>> torch.mtia.current_device()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """
    refuse("getCurrentDevice")


def set_device(device: DeviceLike) -> None:
    """Choose the current device; raises, there is none.

    >>> torch.mtia.set_device(0)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute setCurrentDevice() without MTIA backend.
    """
    _get_device_index(device)
    refuse("setCurrentDevice")


def get_device_capability(device: DeviceLike = None) -> tuple[int, int]:
    """Return the capability of a device; raises, there is none.

    >>> torch.mtia.get_device_capability(0)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getDeviceCapability() without MTIA backend.
    """
    _of_device(device, "getDeviceCapability")


def get_device_properties(device: DeviceLike = None) -> dict[str, Any]:
    """Return the properties of a device; raises, there is none.

    >>> torch.mtia.get_device_properties(0)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getDeviceProperties() without MTIA backend.
    """
    _of_device(device, "getDeviceProperties")


def synchronize(device: DeviceLike = None) -> None:
    """Wait for all work of a device; raises, there is none.

    >>> torch.mtia.synchronize()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """
    _of_device(device, "maybeExchangeDevice")


def empty_cache() -> None:
    """Give cached memory back; raises, there is no device.

    >>> torch.mtia.empty_cache()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute emptyCache() without MTIA backend.
    """
    refuse("emptyCache")


class device:
    """In the block another device is the current one; raises on entry, unless nothing is asked for.

    >>> with torch.mtia.device(0):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute maybeExchangeDevice() without MTIA backend.
    """

    def __init__(self, device: DeviceLike) -> None:
        self.idx = _get_device_index(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        refuse("maybeExchangeDevice")

    def __exit__(self, type: object, value: object, traceback: object) -> None:
        refuse("maybeExchangeDevice")


def current_stream(device: DeviceLike = None) -> torch.Stream:
    """Return the current stream of a device; raises, there is none.

    >>> torch.mtia.current_stream()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """
    _get_device_index(device, optional=True)
    raise AssertionError(_NOT_COMPILED)


def default_stream(device: DeviceLike = None) -> torch.Stream:
    """Return the default stream of a device; raises, there is none.

    >>> torch.mtia.default_stream()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """
    _get_device_index(device, optional=True)
    raise AssertionError(_NOT_COMPILED)


def set_stream(stream: torch.Stream | None) -> None:
    """Choose the current stream; None changes nothing.

    >>> torch.mtia.set_stream(None)
    >>> torch.mtia.is_initialized()
    False
    """
    if stream is not None:
        _lazy_init()


class StreamContext:
    """In the block a stream is the current one; raises, there is no device."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        refuse("getCurrentDevice")

    def __enter__(self) -> None:
        refuse("getCurrentDevice")

    def __exit__(self, type: object, value: object, traceback: object) -> None:
        refuse("setCurrentStream")


def stream(stream: torch.Stream | None) -> StreamContext:
    """Return a context in which a stream is the current one; raises, there is no device.

    >>> with torch.mtia.stream(None):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """
    return StreamContext(stream)


def get_rng_state(device: DeviceLike = "mtia") -> torch.Tensor:
    """Return the state of a device's random stream; raises, there is none.

    >>> torch.mtia.get_rng_state()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with MTIA enabled. Ensure you have `import ...
    """
    raise AssertionError(_NOT_COMPILED)


def get_rng_state_all() -> list[torch.Tensor]:
    """Return the states of all devices' random streams: an empty list.

    >>> torch.mtia.get_rng_state_all()
    []
    """
    return []


def set_rng_state(new_state: torch.Tensor, device: DeviceLike = "mtia") -> None:
    """Set the state of a device's random stream, as soon as there is one; RuntimeError where the device has no index.

    >>> torch.mtia.set_rng_state(torch.get_rng_state())
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """
    copied = new_state.clone(memory_format=torch.contiguous_format)
    _get_device_index(device, optional=True)
    _queue.add(lambda: copied)


def set_rng_state_all(new_states: Sequence[torch.Tensor]) -> None:
    """Set the states of all devices' random streams, as soon as there are some.

    >>> torch.mtia.set_rng_state_all([])
    >>> torch.mtia.is_initialized()
    False
    """
    for state in new_states:
        set_rng_state(state)


def manual_seed(seed: int) -> None:
    """Seed the current device, as soon as there is one.

    >>> torch.mtia.manual_seed(3)
    >>> torch.mtia.is_initialized()
    False
    """
    _queue.seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed all devices, as soon as there are some.

    >>> torch.mtia.manual_seed_all(3)
    >>> torch.mtia.is_initialized()
    False
    """
    _queue.seed_all(seed)


def seed() -> None:
    """Seed the current device by chance, as soon as there is one.

    >>> torch.mtia.seed()
    >>> torch.mtia.is_initialized()
    False
    """
    _queue.add(lambda: None, seed=True)


def seed_all() -> None:
    """Seed all devices by chance, as soon as there are some.

    >>> torch.mtia.seed_all()
    >>> torch.mtia.is_initialized()
    False
    """
    _queue.add(lambda: None, seed_all=True)


def initial_seed() -> int:
    """Return the seed of the current device; raises, there is none.

    >>> torch.mtia.initial_seed()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with MTIA enabled. Ensure you have `import ...
    """
    raise AssertionError(_NOT_COMPILED)


def record_memory_history(enabled: str | None = "all", stacks: str = "python", max_entries: int = 0) -> None:
    """Record where memory is allocated; without a device nothing is.

    >>> torch.mtia.record_memory_history()
    >>> torch.mtia.is_initialized()
    False
    """


def snapshot() -> dict[str, Any]:
    """Return what is known of a device's memory; raises, there is none.

    >>> torch.mtia.snapshot()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute memorySnapshot() without MTIA backend.
    """
    refuse("memorySnapshot")


def attach_out_of_memory_observer(observer: Callable[[int, int, int, int], None]) -> None:
    """Call a function where memory runs out; raises, there is no device.

    >>> torch.mtia.attach_out_of_memory_observer(print)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute attachOutOfMemoryObserver() without MTIA backend.
    """
    refuse("attachOutOfMemoryObserver")
