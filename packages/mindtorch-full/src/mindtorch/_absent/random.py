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
    """Return the state of a device's generator; raises, there is none."""
    _lazy.refuse()


def get_rng_state_all() -> list[Any]:
    """Return the states of all devices: none."""
    return []


def set_rng_state(new_state: Any, device: Any = KIND) -> None:
    """Set the state of a device's generator once there is one."""
    _lazy.queue.state(new_state)


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Set the states of all devices once there are any."""
    for state in new_states:
        set_rng_state(state)


def manual_seed(seed: int) -> None:
    """Seed the current device once there is one; that there is none is no error."""
    _lazy.queue.seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed all devices once there are any."""
    _lazy.queue.seed_all(seed)


def seed() -> None:
    """Seed the current device at random once there is one."""
    _lazy._lazy_call(_lazy.device_count)


def seed_all() -> None:
    """Seed all devices at random, all alike, once there are any."""
    _lazy._lazy_call(_lazy.device_count)


def initial_seed() -> int:
    """Return the current device's seed; raises, there is none."""
    _lazy.refuse()
