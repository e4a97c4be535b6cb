"""Caching allocators, one per device."""

from __future__ import annotations

import threading
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.allocator.caching import NpuAllocator
from mindtorch_npu.allocator.config import Config, from_environment, parse
from mindtorch_npu.allocator.oom import OutOfMemoryError, format_size, set_error_class

_allocators: dict[int, NpuAllocator] = {}
_made_by: list[type[NpuAllocator]] = [NpuAllocator]
_lock = threading.Lock()
_changed: list[Config] = []
"""The options that `configure` was given last, for allocators that are made later."""


def allocator_of(device: int) -> NpuAllocator:
    """Return the allocator of a device, made at its first use."""
    found = _allocators.get(device)
    if found is None:
        with _lock:
            found = _allocators.get(device)
            if found is None:
                found = _made_by[0](device)
                for changed in _changed:
                    found.config = changed
                _allocators[device] = found
    return found


def use_allocator(kind: type[NpuAllocator]) -> None:
    """Let the allocators that are made from now on be of this class."""
    _made_by[0] = kind


def allocators() -> dict[int, NpuAllocator]:
    """Return the allocators there are, by device."""
    return dict(_allocators)


def _forget() -> None:
    for allocator in _allocators.values():
        allocator.forget_events()
    _allocators.clear()  # the device takes its memory back with the runtime


runtime.at_exit(_forget)


_host: list[Config] = []


def host_options() -> Config:
    """Return the options that pinned memory goes by."""
    if not _host:
        _host.append(from_environment())
    return _host[0]


def configure(text: str) -> None:
    """Change the options of every allocator. Raises ValueError with torch's texts."""
    for allocator in allocators().values():
        changed = parse(text, allocator.config)
        allocator.config = changed
        if "per_process_memory_fraction" in text:
            allocator.set_fraction(changed.per_process_memory_fraction)
    _changed[:] = [parse(text, _changed[0] if _changed else from_environment())]
    _host[:] = [parse(text, host_options())]


__all__: list[Any] = [
    "Config",
    "NpuAllocator",
    "OutOfMemoryError",
    "allocators",
    "configure",
    "format_size",
    "host_options",
    "parse",
    "set_error_class",
    "use_allocator",
]
