"""Random state of accelerators: seeds are accepted for devices that never come, states are not to be had."""

from collections.abc import Iterable
from typing import Any

from mindtorch._absent import KIND
from mindtorch._absent import initialization as _lazy

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def get_rng_state(device: Any = KIND) -> Any:
    """Return the state of a device's generator; raises, there is none.

    >>> torch.KIND.get_rng_state()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    _lazy.refuse()


def get_rng_state_all() -> list[Any]:
    """Return the states of all devices: none.

    >>> torch.KIND.get_rng_state_all()
    []
    """
    return []


def set_rng_state(new_state: Any, device: Any = KIND) -> None:
    """Set the state of a device's generator once there is one.

    >>> torch.KIND.set_rng_state(torch.get_rng_state())
    >>> torch.KIND.is_initialized()
    False
    """
    _lazy.queue.state(new_state)


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Set the states of all devices once there are any.

    >>> torch.KIND.set_rng_state_all([])
    >>> torch.KIND.get_rng_state_all()
    []
    """
    for state in new_states:
        set_rng_state(state)


def manual_seed(seed: int) -> None:
    """Seed the current device once there is one; that there is none is no error.

    >>> torch.KIND.manual_seed(3)
    >>> torch.KIND.is_initialized()
    False
    """
    _lazy.queue.seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed all devices once there are any.

    >>> torch.KIND.manual_seed_all(3)
    >>> torch.KIND.is_initialized()
    False
    """
    _lazy.queue.seed_all(seed)


def seed() -> None:
    """Seed the current device at random once there is one.

    >>> torch.KIND.seed()
    >>> torch.KIND.is_initialized()
    False
    """
    _lazy._lazy_call(_lazy.device_count)


def seed_all() -> None:
    """Seed all devices at random, all alike, once there are any.

    >>> torch.KIND.seed_all()
    >>> torch.KIND.is_initialized()
    False
    """
    _lazy._lazy_call(_lazy.device_count)


def initial_seed() -> int:
    """Return the current device's seed; raises, there is none.

    >>> torch.KIND.initial_seed()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    _lazy.refuse()
