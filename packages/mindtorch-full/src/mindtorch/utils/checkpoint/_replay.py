"""What a recomputation must find as the forward pass left it: random streams and autocast."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import mindtorch as torch
from mindtorch.amp import state as autocast_state
from mindtorch.amp.autocast_mode import autocast
from mindtorch.utils._pytree import tree_map


class DefaultDeviceType:
    """The device type whose random state is kept when no argument lives on a device.

    >>> import torch.utils.checkpoint
    >>> torch.utils.checkpoint.DefaultDeviceType.get_device_type()
    'cpu'
    """

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Choose the device type."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The chosen device type; without a choice, the accelerator of this machine, or the CPU."""
        if DefaultDeviceType._default_device_type is None:
            accelerator = torch.accelerator.current_accelerator(True)
            DefaultDeviceType._default_device_type = accelerator.type if accelerator is not None else "cpu"
        return DefaultDeviceType._default_device_type


def _tensors(trees: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for tree in trees:
        tree_map(lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else None, tree)
    return found


def _infer_device_type(*args: Any) -> str:
    """The device type of the first argument that is not on the CPU."""
    kinds: list[str] = []
    for tensor in _tensors(args):
        if tensor.device.type != "cpu" and tensor.device.type not in kinds:
            kinds.append(tensor.device.type)
    if not kinds:
        return DefaultDeviceType.get_device_type()
    if len(kinds) > 1:
        warnings.warn(
            "Tensor arguments, excluding CPU tensors, are detected on at least two types of devices. "
            "Device state will only be saved for devices of a single device type, and the remaining "
            "devices will be ignored. Consequently, if any checkpointed functions involve randomness, "
            "this may result in incorrect gradients. (Note that if CUDA devices are among the devices "
            "detected, it will be prioritized; otherwise, the first device encountered will be selected.)"
            f"\nDevice types: {sorted(kinds)} first device type: {kinds[0]}",
            stacklevel=3,
        )
    return "cuda" if "cuda" in kinds else kinds[0]


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The random states of the devices the arguments live on.

    >>> import torch.utils.checkpoint
    >>> torch.utils.checkpoint.get_device_states(torch.ones(1))
    ([], [])
    """
    indices: list[int] = []
    for tensor in _tensors(args):
        index = tensor.get_device() if tensor.device.type not in ("cpu", "meta") else None
        if index is not None and index not in indices:
            indices.append(index)
    if not indices:
        return [], []
    module = getattr(torch, _infer_device_type(*args))
    states = []
    for index in indices:
        with module.device(index):
            states.append(module.get_rng_state())
    return indices, states


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Put the random states of devices back."""
    kind = device_type if device_type is not None else DefaultDeviceType.get_device_type()
    if kind in ("cpu", "meta"):
        return
    module = getattr(torch, kind)
    for device, saved in zip(devices, states, strict=True):
        with module.device(device):
            module.set_rng_state(saved)


class Surroundings:
    """The random streams and the autocast state at one moment, to be entered again later."""

    def __init__(self, args: Iterable[Any], preserve_rng: bool) -> None:
        self.args = tuple(args)
        self.device_type = _infer_device_type(*self.args)
        self.preserve_rng = preserve_rng
        self.autocast = {kind: _autocast_options(kind) for kind in {self.device_type, "cpu"}}
        self.cpu_state = torch.get_rng_state() if preserve_rng else None
        self.devices, self.device_states = get_device_states(*self.args) if preserve_rng else ([], [])
        del self.args

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Run with everything as it was; the streams continue afterwards where they are now."""
        with ExitStack() as stack:
            if self.preserve_rng:
                stack.enter_context(self._streams())
            for kind, options in self.autocast.items():
                if options is not None and (options["enabled"] or autocast_state.is_autocast_enabled(kind)):
                    stack.enter_context(autocast(kind, **options))
            yield

    @contextmanager
    def _streams(self) -> Iterator[None]:
        now = torch.get_rng_state()
        module = getattr(torch, self.device_type) if self.devices else None
        device_now = []
        for index in self.devices:
            with module.device(index):  # type: ignore[union-attr]
                device_now.append(module.get_rng_state())  # type: ignore[union-attr]
        torch.set_rng_state(self.cpu_state)
        set_device_states(self.devices, self.device_states, device_type=self.device_type)
        try:
            yield
        finally:
            torch.set_rng_state(now)
            set_device_states(self.devices, device_now, device_type=self.device_type)


def _autocast_options(device_type: str) -> dict[str, Any] | None:
    if not autocast_state.is_autocast_available(device_type):
        return None
    return {
        "enabled": autocast_state.is_autocast_enabled(device_type),
        "dtype": autocast_state.get_autocast_dtype(device_type),
        "cache_enabled": autocast_state.is_autocast_cache_enabled(),
    }
