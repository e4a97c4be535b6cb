"""`torch.npu.random`: the devices' random streams. Seeding needs no device: a stream is a seed and an offset on the host."""

import os
from collections.abc import Iterable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.random import on_manual_seed
from mindtorch_npu import runtime
from mindtorch_npu.device import current_device, device_index
from mindtorch_npu.generator import default_generator
from mindtorch_npu.generator import seed_all as seed_generators
from mindtorch_storage.lazy_import import LazyModule

_torch = LazyModule("mindtorch", "it is being imported when this module is")

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


def _generator(index: int) -> Any:
    return default_generator(index)


def manual_seed(seed: int) -> None:
    """Start the current device's stream of `seed`.

    >>> torch.npu.manual_seed(3)
    >>> torch.npu.initial_seed()
    3
    """
    _generator(device_index(initialise=False)).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Start every device's stream of `seed`.

    >>> torch.npu.manual_seed_all(3)
    >>> with torch.npu.device(1):
    ...     print(torch.npu.initial_seed())
    3
    """
    seed_generators(int(seed))


def _entropy() -> int:
    return int.from_bytes(os.urandom(7), "little")


def seed() -> None:
    """Start the current device's stream of a number from the operating system.

    >>> torch.npu.seed()
    >>> torch.npu.initial_seed() != 3
    True
    """
    manual_seed(_entropy())


def seed_all() -> None:
    """Start all devices' streams of one number from the operating system.

    >>> torch.npu.seed_all()
    >>> first = torch.npu.initial_seed()
    >>> with torch.npu.device(1):
    ...     print(torch.npu.initial_seed() == first)
    True
    """
    manual_seed_all(_entropy())


def initial_seed() -> int:
    """Return the seed of the current device's stream.

    >>> torch.npu.manual_seed(7)
    >>> torch.npu.initial_seed()
    7
    """
    runtime.init()
    return int(_generator(current_device()).initial_seed())


def get_rng_state(device: Any = "npu") -> Any:
    """Return where a device's stream is: a byte tensor of seed and offset.

    >>> state = torch.npu.get_rng_state()
    >>> first = torch.rand(2, device="npu")
    >>> torch.npu.set_rng_state(state)
    >>> torch.equal(torch.rand(2, device="npu"), first)
    True
    """
    runtime.init()
    state = _generator(device_index(device)).state()
    return _torch.tensor(list(state), dtype=_torch.uint8)


def set_rng_state(new_state: Any, device: Any = "npu") -> None:
    """Continue a device's stream from what `get_rng_state` returned.

    >>> torch.npu.set_rng_state(torch.npu.get_rng_state())
    >>> torch.npu.get_rng_state().dtype
    torch.uint8
    """
    _generator(device_index(device, initialise=False)).set_state(bytes(new_state.tolist()))


def get_rng_state_all() -> list[Any]:
    """Return where every device's stream is.

    >>> len(torch.npu.get_rng_state_all())
    2
    """
    return [get_rng_state(index) for index in range(runtime.device_count())]


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Continue every device's stream.

    >>> torch.npu.set_rng_state_all(torch.npu.get_rng_state_all())
    >>> len(torch.npu.get_rng_state_all())
    2
    """
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


on_manual_seed(seed_generators)
adopt(globals())
