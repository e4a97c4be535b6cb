"""`torch.random`: seeds and states of the process's generators."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import mindtorch as torch
from mindtorch_cpu.generator import Generator, default_generator, makers, set_state_tensors, type_name
from mindtorch_dispatch.execute.executor import wrap_array
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import uint8
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

from ._naming import adopt
from ._utils import _get_device_module

__all__ = [
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]

_CPU = Device("cpu")


def _state_tensor(array: Any) -> Any:
    return wrap_array(wired.tensor_class, array, uint8, _CPU)


def _state_array(tensor: Any) -> Any:
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"expected a torch.ByteTensor, but got {type_name(tensor)}")
    spec = tensor._sig.spec
    if spec.dtype is not uint8 or spec.device is not _CPU:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if not spec.is_contiguous:
        raise RuntimeError("RNG state must be contiguous")
    return tensor._host_array().reshape(-1)


_npu = LazyModule("mindtorch.npu.generators", "only generators of Ascend devices need it")
set_state_tensors(_state_tensor, _state_array)
makers["npu"] = lambda device: _npu.generator_of(device)


class _Accelerators:
    """What reseeds the generators of accelerators along with the CPU's."""

    seeders: list[Callable[[int], None]] = []
    seed: int | None = None
    """That of the last call, for accelerators whose module is imported later."""
    warned_of_many_devices = False


def on_manual_seed(seeder: Callable[[int], None]) -> None:
    """Have `seeder(seed)` called whenever all devices are seeded; an accelerator's module registers itself so.

    It must not initialise the device: where that has not happened, it keeps the seed until it does. It is called at once
    where all devices have been seeded already.
    """
    _Accelerators.seeders.append(seeder)
    if _Accelerators.seed is not None:
        seeder(_Accelerators.seed)


def _seed_accelerators(seed: int) -> None:
    _Accelerators.seed = seed
    for seeder in _Accelerators.seeders:
        seeder(seed)


def set_rng_state(new_state: Any) -> None:
    """Continue the CPU's default stream from `new_state`, a byte tensor that `get_rng_state` returned.

    >>> state = torch.get_rng_state()
    >>> x = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.equal(torch.rand(2), x)
    True
    """
    default_generator.set_state(new_state)


def get_rng_state() -> torch.Tensor:
    """Return the state of the CPU's default generator as a byte tensor.

    >>> state = torch.get_rng_state()
    >>> x = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.equal(torch.rand(2), x)
    True
    """
    return default_generator.get_state()


def manual_seed(seed: Any) -> Generator:
    """Seed the generators of all devices and return the CPU's.

    Negative seeds count down from 2**64. Raises ValueError outside [-2**63, 2**64).

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    number = int(seed)
    _seed_accelerators(number)
    return default_generator.manual_seed(number)


def seed() -> int:
    """Seed the generators of all devices from the operating system's entropy and return the seed.

    >>> isinstance(torch.seed(), int)
    True
    """
    number = default_generator.seed()
    _seed_accelerators(number)
    return number


def initial_seed() -> int:
    """Return the seed that the CPU's default stream started from.

    >>> _ = torch.manual_seed(7)
    >>> torch.initial_seed()
    7
    """
    return default_generator.initial_seed()


_MANY_DEVICES = (
    "{kind} reports that you have {count} available devices, and you have used {caller} without explicitly specifying "
    "which devices are being used. For safety, we initialize *every* {kind} device by default, which can be quite slow "
    "if you have a lot of {kind}s. If you know that you are only making use of a few {kind} devices, set the "
    "environment variable {kind}_VISIBLE_DEVICES or the '{keyword}' keyword argument of {caller} with the set of "
    "devices you are actually using. For example, if you are using CPU only, set device.upper()_VISIBLE_DEVICES= or "
    "devices=[]; if you are using device 0 only, set {kind}_VISIBLE_DEVICES=0 or devices=[0].  To initialize all "
    "devices and suppress this warning, set the '{keyword}' keyword argument to `range(torch.{name}.device_count())`."
)


def _all_devices(module: Any, device_type: str, caller: str, keyword: str) -> list[int]:
    count = module.device_count()
    if count > 1 and not _Accelerators.warned_of_many_devices:
        text = _MANY_DEVICES.format(
            kind=device_type.upper(), count=count, caller=caller, keyword=keyword, name=device_type
        )
        warnings.warn(text, stacklevel=5)
        _Accelerators.warned_of_many_devices = True
    return list(range(count))


def _accelerator_type() -> str:
    current = torch.accelerator.current_accelerator()
    return "cuda" if current is None else current.type


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Run the block, then put the random states of the CPU and of `devices` back to what they were.

    Args:
        devices: accelerator devices to include; None means all of them, with a warning when there are many.
        enabled: False runs the block and puts nothing back.
        device_type: the accelerator's type; None means the present one.

    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(3)
    >>> torch.equal(torch.rand(1), torch.rand(1, generator=torch.Generator().manual_seed(0)))
    True
    """
    if device_type == "meta" or not enabled:
        yield
        return
    device_type = device_type or _accelerator_type()
    module = _get_device_module(device_type)
    chosen = _all_devices(module, device_type, _caller, _devices_kw) if devices is None else list(devices)
    state = get_rng_state()
    device_states = [module.get_rng_state(device) for device in chosen]
    try:
        yield
    finally:
        set_rng_state(state)
        for device, device_state in zip(chosen, device_states, strict=True):
            module.set_rng_state(device_state, device)


def thread_safe_generator() -> Generator | None:
    """Return the worker's own generator inside a DataLoader worker thread, None everywhere else.

    >>> print(torch.random.thread_safe_generator())
    None
    """
    info = torch.utils.data.get_worker_info()
    if info is not None and getattr(info, "worker_method", None) == "thread" and info.rng is not None:
        return info.rng.torch_generator
    return None


adopt(globals())
