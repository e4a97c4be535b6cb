"""The memory functions of `torch.npu`: counters, summary, limits, raw allocation, snapshots."""

from __future__ import annotations

import collections
import pickle
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mindtorch_npu import hooks, runtime, switches
from mindtorch_npu.allocator import allocators, configure
from mindtorch_npu.allocator.snapshot import Snapshot
from mindtorch_npu.device import current_device, device_index, mem_get_info
from mindtorch_npu.snapshot_page import page
from mindtorch_npu.stream import Stream, current_stream
from mindtorch_npu.typing import DeviceLike

UNBOUNDED = 2**63 - 1


def _allocator(device: object = None) -> Any:
    """Return what the hook answers for a device; its own answer is of use when the runtime is initialised."""
    if not hooks.allocator_is_replaced():
        runtime.init()
    return hooks.allocator(device)


def _in_use() -> list[Any]:
    """Return the allocators there are: one per device, or the one that is put in their place."""
    return [hooks.allocator()] if hooks.allocator_is_replaced() else list(allocators().values())


def caching_allocator_alloc(size: int, device: DeviceLike | None = None, stream: object = None) -> int:
    """Return the address of `size` bytes for a stream, by default the current one of the device."""
    index = device_index(device, initialise=False)
    if stream is None:
        stream = current_stream(index)
    if isinstance(stream, Stream):
        stream = stream.npu_stream
    if not isinstance(stream, int):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.npu.Stream` or `int` representing a pointer to an "
            "existing stream"
        )
    address: int = _allocator(index).malloc(size, stream)
    return address


def caching_allocator_delete(mem_ptr: int) -> None:
    """Give memory back that `caching_allocator_alloc` returned. Raises RuntimeError for another address."""
    found = [one for one in _in_use() if one.owns(mem_ptr)]
    if not found:
        raise RuntimeError(f"invalid device pointer: {mem_ptr:#x}")
    found[0].free(mem_ptr)


def set_per_process_memory_fraction(fraction: float, device: DeviceLike | None = None) -> None:
    """Let this process take no more than a share of a device's memory, which need not be initialised yet."""
    allocator = hooks.allocator(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    allocator.set_fraction(fraction)


def get_per_process_memory_fraction(device: DeviceLike | None = None) -> float:
    """Return the share that this process may take.

    >>> torch.npu.get_per_process_memory_fraction()
    1.0
    """
    fraction: float = hooks.allocator(device).fraction()
    return fraction


def empty_cache() -> None:
    """Give back what is kept for later use; nothing happens before the runtime is initialised.

    That is unused memory of the devices, and executors with their descriptors, which the vendor's library holds.

    >>> torch.npu.empty_cache()
    >>> torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    True
    """
    if runtime.is_initialized():
        switches.forget_plans()
    if runtime.is_initialized() or hooks.allocator_is_replaced():
        for allocator in _in_use():
            allocator.empty_cache()


def memory_stats_as_nested_dict(device: object = None) -> dict[str, Any]:
    """Return the counters by name and pool, {} before the runtime is initialised."""
    if not (runtime.is_initialized() or hooks.allocator_is_replaced()):
        return {}
    stats: dict[str, Any] = hooks.allocator(device).memory_stats()
    return stats


def memory_stats(device: object = None) -> dict[str, Any]:
    """Return the counters under dotted names, sorted."""
    found: list[tuple[str, Any]] = []

    def flatten(prefix: str, value: object) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                flatten(f"{prefix}.{key}" if prefix else key, inner)
        else:
            found.append((prefix, value))

    flatten("", memory_stats_as_nested_dict(device))
    return collections.OrderedDict(sorted(found))


def reset_accumulated_memory_stats(device: DeviceLike | None = None) -> None:
    """Let the sums of the counters begin anew."""
    _allocator(device).reset_accumulated_memory_stats()


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Let the peaks be the present values."""
    _allocator(device).reset_peak_memory_stats()


def reset_max_memory_allocated(device: DeviceLike | None = None) -> None:
    """Deprecated: as `reset_peak_memory_stats`."""
    _deprecated_reset("reset_max_memory_allocated")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: DeviceLike | None = None) -> None:
    """Deprecated: as `reset_peak_memory_stats`."""
    _deprecated_reset("reset_max_memory_cached")
    reset_peak_memory_stats(device)


def _deprecated_reset(name: str) -> None:
    warnings.warn(
        f"torch.npu.{name} now calls torch.npu.reset_peak_memory_stats, which resets /all/ peak memory stats.",
        FutureWarning,
        stacklevel=3,
    )


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Return the bytes of blocks in use."""
    return int(memory_stats(device).get("allocated_bytes.all.current", 0))


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """Return the most bytes of blocks that were in use."""
    return int(memory_stats(device).get("allocated_bytes.all.peak", 0))


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Return the bytes taken from the device.

    >>> x = torch.ones(1024, device="npu")
    >>> torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    True
    """
    return int(memory_stats(device).get("reserved_bytes.all.current", 0))


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """Return the most bytes that were taken from the device.

    >>> torch.npu.max_memory_reserved() >= torch.npu.memory_reserved()
    True
    """
    return int(memory_stats(device).get("reserved_bytes.all.peak", 0))


def memory_cached(device: DeviceLike | None = None) -> int:
    """Deprecated: as `memory_reserved`."""
    warnings.warn("`torch.npu.memory_cached` has been renamed to `torch.npu.memory_reserved`", FutureWarning, 2)
    return memory_reserved(device)


def max_memory_cached(device: DeviceLike | None = None) -> int:
    """Deprecated: as `max_memory_reserved`."""
    warnings.warn("`torch.npu.max_memory_cached` has been renamed to `torch.npu.max_memory_reserved`", FutureWarning, 2)
    return max_memory_reserved(device)


def get_allocator_backend() -> str:
    """Return "native": the caching allocator.

    >>> torch.npu.get_allocator_backend()
    'native'
    """
    return "native"


def memory_snapshot(mempool_id: tuple[int, int] | None = None, include_traces: bool = True) -> Any:
    """Return the segments of every device with their blocks, those of one private pool when it is named.

    The answer is a list of segments that tells `"segments"`, `"device"` and `"allocator"` as well.
    """
    if hooks.allocator_is_replaced():
        return hooks.allocator().snapshot()
    segments = [segment for allocator in allocators().values() for segment in allocator.snapshot()]
    if mempool_id is not None:
        segments = [segment for segment in segments if segment["segment_pool_id"] == tuple(mempool_id)]
    return Snapshot(segments, device_index(initialise=False))


def snapshot(device: DeviceLike | None = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """Return segments, the recorded history by device, and the allocator's settings."""
    found = allocators()
    count = max(runtime.device_count(), 1 + max(found, default=-1))
    traces = [list(found[i].history.entries) if i in found else [] for i in range(count)]
    config = next(iter(found.values())).config if found else None
    settings = {}
    if config is not None:
        settings = {
            "garbage_collection_threshold": config.garbage_collection_threshold,
            "max_split_size": -1 if config.max_split_size == UNBOUNDED else config.max_split_size,
            "expandable_segments": config.expandable_segments,
            "last_allocator_settings": config.text,
            "roundup_power2_divisions": {str(k): v for k, v in config.roundup_power2_divisions},
        }
    return {
        "segments": memory_snapshot()["segments"],
        "device_traces": traces,
        "allocator_settings": settings,
        "external_annotations": [],
    }


def dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Write `snapshot()` to a file, which torch's memory viewer opens."""
    Path(filename).write_bytes(pickle.dumps(snapshot()))


def record_memory_history(
    enabled: str | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = UNBOUNDED,
    device: DeviceLike | None = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: list[str] | None = None,
) -> None:
    """Record what the allocators do from now on; None ends it.

    Raises ValueError with torch's texts for other words.
    """
    if enabled not in ("state", "all", None):
        raise RuntimeError("expected state to be 'state', 'all', or None")
    if context not in ("state", "alloc", "all", None):
        raise RuntimeError("expected context to be 'state', 'alloc', 'all', or None")
    if stacks not in ("python", "all"):
        raise RuntimeError("expected stacks to be 'python', or 'all'")
    runtime.init()
    indices = range(runtime.device_count()) if device is None else [device_index(device)]
    for index in indices:
        most = max_entries if enabled == "all" else 0
        hooks.allocator(index).history.configure(
            enabled is not None, context or "none", most, clear_history, frozenset(skip_actions or ())
        )


def set_memory_metadata(metadata: str) -> None:
    """Attach a text to the entries recorded from now on."""
    for allocator in allocators().values():
        allocator.history.metadata = metadata


def get_memory_metadata() -> str:
    """Return the text that is attached to entries."""
    return next((allocator.history.metadata for allocator in allocators().values()), "")


def set_allocator_settings(env: str) -> None:
    """Change the allocators' options."""
    configure(env)


def allocation_traceback(data_ptr: int) -> list[dict[str, Any]]:
    """Return the frames that made the block around an address, [] when none were recorded or it is not in use."""
    for allocator in allocators().values():
        try:
            return list(allocator.block_of(data_ptr).frames)
        except RuntimeError:  # an address of another device
            continue
    return []


def save_usage(filename: str, snapshot_: dict[str, Any] | None = None) -> None:
    """Write a page that shows a snapshot, by default the present one: a timeline and a map of the segments."""
    Path(filename).write_text(page(snapshot() if snapshot_ is None else snapshot_), encoding="utf-8")


def memory_summary(device: int | None = None, abbreviated: bool = False) -> str:
    """Return a table of the counters; those that the allocator does not tell are 0.

    >>> "Allocated memory" in torch.npu.memory_summary()
    True
    """
    index = device_index(device, initialise=False)
    stats = collections.defaultdict(int, memory_stats(index))
    lines = [
        "=" * 75,
        f"                  PyTorch NPU memory summary, device ID {index:<18d} ",
        "-" * 75,
        f"            NPU OOMs: {stats['num_ooms']:<13d} |        npuMalloc retries: {stats['num_alloc_retries']:<9d}  ",
        "=" * 75,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]
    for key, name, format_cell in _METRICS:
        lines.append("-" * 75)
        lines += _rows(stats, key, name, format_cell, (*_BY_POOL[:1], *(() if abbreviated else _BY_POOL[1:])))
    for key, name in (("oversize_allocations", "Oversize allocations"), ("oversize_segments", "Oversize NPU segments")):
        lines.append("-" * 75)
        cells = [stats[f"{key}.{column}"] for column in _COLUMNS]
        lines.append(f" {name:<21} | " + " | ".join(_count(cell, cell) for cell in cells) + " ")
    lines.append("=" * 75)
    return "|" + "|\n|".join(lines) + "|\n"


_COLUMNS = ("current", "peak", "allocated", "freed")
_BY_POOL = (("all", None), ("large_pool", "      from large pool"), ("small_pool", "      from small pool"))


def _rows(stats: dict[str, Any], key: str, name: str, cell: Callable[..., Any], pools: Any) -> list[str]:
    rows = []
    for pool, label in pools:
        values = [(stats[f"{key}.{pool}.{column}"], stats[f"{key}.all.{column}"]) for column in _COLUMNS]
        rows.append(f" {label or name:<21} | " + " | ".join(cell(value, unit) for value, unit in values) + " ")
    return rows


def _in_units(value: int, unit_of: int, least: int, step: int, units: Sequence[str]) -> tuple[int, str]:
    """Return a value in the unit in which `unit_of` is below `least` times `step`, rounded down at every step."""
    place = 0
    while unit_of >= least * step and place < len(units) - 1:
        unit_of //= step
        value //= step
        place += 1
    return value, units[place]


def _size(value: int, unit_of: int) -> str:
    number, unit = _in_units(value, unit_of, 768, 1024, ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB"))
    return f"{number:6d} {unit}"


def _count(value: int, unit_of: int) -> str:
    number, unit = _in_units(value, unit_of, 750, 1000, (" ", "K", "M"))
    return f"{number:7d} {unit} "


_METRICS = (
    ("allocated_bytes", "Allocated memory", _size),
    ("active_bytes", "Active memory", _size),
    ("requested_bytes", "Requested memory", _size),
    ("reserved_bytes", "Reserved memory", _size),
    ("inactive_split_bytes", "Non-releasable memory", _size),
    ("allocation", "Allocations", _count),
    ("active", "Active allocs", _count),
    ("segment", "NPU reserved segments", _count),
    ("inactive_split", "Non-releasable allocs", _count),
)

__all__ = [
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "current_device",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]
