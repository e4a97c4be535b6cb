"""Dispatch keys in priority order, and key sets with set behaviour over an int bit mask."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any


class DispatchKey(enum.IntEnum):
    """A layer an op call passes through. A higher value has priority; the last five and their order are contractual.

    Torch has some of them per backend, also of backends there are none of here: those names mean the same key.

    >>> torch.DispatchKey.CPU.name
    'CPU'
    """

    CPU = 0
    NPU = 1
    Meta = 2
    Sparse = 3
    Quantized = 4
    NestedTensor = 5
    Autograd = 6
    Pipeline = 7
    Autocast = 8
    Batched = 9
    Functionalize = 10
    Python = 11

    AutogradCPU = Autograd
    AutogradNPU = Autograd
    AutogradMeta = Autograd
    AutogradPrivateUse1 = Autograd
    AutogradCUDA = Autograd
    AutogradXPU = Autograd
    AutogradMPS = Autograd
    AutogradXLA = Autograd
    AutogradHPU = Autograd
    AutocastCPU = Autocast
    AutocastPrivateUse1 = Autocast
    AutocastCUDA = Autocast
    AutocastXPU = Autocast
    AutocastMPS = Autocast
    AutocastXLA = Autocast
    AutocastHPU = Autocast
    FuncTorchBatched = Batched
    PrivateUse1 = NPU

    def __repr__(self) -> str:
        return f"DispatchKey.{self.name}"

    __str__ = __repr__


BACKEND_KEYS = {"cpu": DispatchKey.CPU, "npu": DispatchKey.NPU, "meta": DispatchKey.Meta}
"""Device type to the key of its backend."""

DEVICE_TYPES = {key: device_type for device_type, key in BACKEND_KEYS.items()}
"""Backend key to its device type."""


class DispatchKeySet:
    """An immutable set of `DispatchKey`, iterated from the highest priority down.

    >>> torch.DispatchKeySet(torch.DispatchKey.CPU).has(torch.DispatchKey.CPU)
    True
    """

    __slots__ = ("mask",)

    mask: int

    def __init__(self, keys: Iterable[DispatchKey] | DispatchKeySet | int = ()) -> None:
        if isinstance(keys, DispatchKeySet):
            mask = keys.mask
        elif isinstance(keys, int) and not isinstance(keys, DispatchKey):
            mask = keys
        else:
            mask = 0
            for key in (keys,) if isinstance(keys, DispatchKey) else keys:
                mask |= 1 << DispatchKey(key)
        object.__setattr__(self, "mask", mask)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("DispatchKeySet is immutable")

    @classmethod
    def from_tensors(
        cls, tensors: Iterable[Any], *, grad_enabled: bool = False, pipeline_enabled: bool = False
    ) -> DispatchKeySet:
        """Return the keys a call on `tensors` passes: their backends, Autograd when one requires grad, Pipeline."""
        mask = 0
        for tensor in tensors:
            mask |= 1 << BACKEND_KEYS[tensor.device.type]
            if grad_enabled and tensor.requires_grad:
                mask |= 1 << DispatchKey.Autograd
        if pipeline_enabled:
            mask |= 1 << DispatchKey.Pipeline
        return cls(mask)

    def without(self, key: DispatchKey) -> DispatchKeySet:
        """Return this set less `key`."""
        return DispatchKeySet(self.mask & ~(1 << key))

    remove = without

    def add(self, key: DispatchKey) -> DispatchKeySet:
        """Return this set with `key`."""
        return DispatchKeySet(self.mask | (1 << key))

    def has(self, key: DispatchKey) -> bool:
        """True when `key` is in the set."""
        return bool(self.mask >> key & 1)

    def highest(self) -> DispatchKey | None:
        """Return the key of the highest priority, None for the empty set."""
        return DispatchKey(self.mask.bit_length() - 1) if self.mask else None

    highestPriorityTypeId = highest

    def __contains__(self, key: object) -> bool:
        return isinstance(key, DispatchKey) and self.has(key)

    def __iter__(self) -> Iterator[DispatchKey]:
        mask = self.mask
        while mask:
            key = DispatchKey(mask.bit_length() - 1)
            mask &= ~(1 << key)
            yield key

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __bool__(self) -> bool:
        return self.mask != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self.mask == other.mask

    def __hash__(self) -> int:
        return hash(("DispatchKeySet", self.mask))

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.mask | other.mask)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.mask & other.mask)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.mask & ~other.mask)

    def __xor__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.mask ^ other.mask)

    def __le__(self, other: DispatchKeySet) -> bool:
        return self.mask & ~other.mask == 0

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in self)})"
