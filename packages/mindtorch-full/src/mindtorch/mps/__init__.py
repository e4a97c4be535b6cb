"""`torch.mps` of a torch without MPS: there is no device, and what needs one raises."""

from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.mps import profiler
from mindtorch.mps._refusal import refuse as _refuse
from mindtorch.mps.event import Event

__all__ = [
    "Event",
    "compile_shader",
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "load_metallib",
    "manual_seed",
    "profiler",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]


def is_available() -> bool:
    """Return whether MPS can be used: False.

    >>> torch.mps.is_available()
    False
    """
    return False


def device_count() -> int:
    """Return the number of devices: 0.

    >>> torch.mps.device_count()
    0
    """
    return 0


def synchronize() -> None:
    """Wait for the device; raises, there is none.

    >>> torch.mps.synchronize()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute deviceSynchronize() without MPS backend.
    """
    _refuse("deviceSynchronize")


def get_rng_state(device: Any = "mps") -> Any:
    """Return the state of the device's generator; raises, there is none.

    >>> torch.mps.get_rng_state()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getDefaultGenerator() without MPS backend.
    """
    _refuse("getDefaultGenerator")


def set_rng_state(new_state: Any, device: Any = "mps") -> None:
    """Set the state of the device's generator; raises, there is none.

    >>> torch.mps.set_rng_state(torch.get_rng_state())
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getDefaultGenerator() without MPS backend.
    """
    new_state.clone()
    _refuse("getDefaultGenerator")


def manual_seed(seed: int) -> None:
    """Seed the device's generator; without a device nothing is seeded and the seed is not looked at, as in torch.

    >>> torch.mps.manual_seed(3)
    >>> torch.mps.is_available()
    False
    """


def seed() -> None:
    """Seed the device's generator at random; raises, there is none.

    >>> torch.mps.seed()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getDefaultGenerator() without MPS backend.
    """
    _refuse("getDefaultGenerator")


def empty_cache() -> None:
    """Give cached memory back; raises, there is no device.

    >>> torch.mps.empty_cache()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute emptyCache() without MPS backend.
    """
    _refuse("emptyCache")


def set_per_process_memory_fraction(fraction: float) -> None:
    """Limit this process's share of the memory; checks the value, then raises, there is no device.

    >>> torch.mps.set_per_process_memory_fraction(0.5)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute setMemoryFraction() without MPS backend.
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 2:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~2")
    _refuse("setMemoryFraction")


def current_allocated_memory() -> int:
    """Return the bytes that tensors take; raises, there is no device.

    >>> torch.mps.current_allocated_memory()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentAllocatedMemory() without MPS backend.
    """
    _refuse("getCurrentAllocatedMemory")


def driver_allocated_memory() -> int:
    """Return the bytes that the driver holds; raises, there is no device.

    >>> torch.mps.driver_allocated_memory()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getDriverAllocatedMemory() without MPS backend.
    """
    _refuse("getDriverAllocatedMemory")


def recommended_max_memory() -> int:
    """Return the bytes one should not exceed; raises, there is no device.

    >>> torch.mps.recommended_max_memory()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getRecommendedMaxMemory() without MPS backend.
    """
    _refuse("getRecommendedMaxMemory")


def compile_shader(source: str) -> NoReturn:
    """Compile a Metal shader; raises, there is no device.

    >>> torch.mps.compile_shader("")
    Traceback (most recent call last):
        ...
    RuntimeError: MPS is not available
    """
    raise RuntimeError("MPS is not available")


def load_metallib(source: Any) -> NoReturn:
    """Load a compiled Metal library; raises, there is no device.

    >>> torch.mps.load_metallib("none.metallib")
    Traceback (most recent call last):
        ...
    RuntimeError: MPS is not available
    """
    raise RuntimeError("MPS is not available")


def _is_in_bad_fork() -> bool:
    return False


def _get_default_mps_generator() -> NoReturn:
    _refuse("getDefaultGenerator")


adopt(globals())
