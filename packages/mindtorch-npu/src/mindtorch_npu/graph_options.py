"""The options of kernels that the vendor joins to one in a graph, as `NPUGraph.super_kernel_optimize` takes them."""

from __future__ import annotations

from typing import Any

_NAMES = [str]
Shape = Any
OPTIMIZE: dict[str, Shape] = {
    **dict.fromkeys(
        ("preload_code", "split_mode", "stream_fusion", "constant_codegen", "auto_op_parallel", "early_start"), int
    ),
    **dict.fromkeys(
        ("dcci_before_kernel_start", "dcci_after_kernel_end", "dcci_disable_on_kernel", "ubuf_lock_ignore_kernel"),
        _NAMES,
    ),
    "opt_extend": str,
    "aggressive_opt_strategies": dict.fromkeys(
        ("event_breaker_bypass", "value_breaker_bypass", "task_breaker_bypass"), int
    ),
}
DEBUG: dict[str, Shape] = {
    **dict.fromkeys(
        ("debug_sync_all", "debug_op_exec_trace", "debug_cross_core_sync_check", "debug_per_op_max_core_num"), int
    ),
    "debug_extend": str,
}
"""By name the type of the value, a list of one type, or options within an option."""


def check(name: str, options: object, known: dict[str, Shape]) -> None:
    """Raise RuntimeError for options that are not known, or whose values are of another type."""
    if options is None:
        return
    if not isinstance(options, dict):
        raise RuntimeError(f"{name} param must be dict or None.")
    for key, value in options.items():
        wanted = known.get(key)
        if wanted is None:
            raise RuntimeError(f"{name} has no option {key!r}; it has {', '.join(sorted(known))}")
        if isinstance(wanted, dict):
            if not isinstance(value, dict):
                raise RuntimeError(f"{name}: {key} must be a dict, but got {type(value).__name__}")
            check(f"{name}: {key}", value, wanted)
            continue
        several = isinstance(wanted, list)
        kind = wanted[0] if several else wanted
        if several and not isinstance(value, list):
            raise RuntimeError(f"{name}: {key} must be a list of {kind.__name__}, but got {type(value).__name__}")
        for one in value if several else (value,):
            if not isinstance(one, kind) or isinstance(one, bool):
                raise RuntimeError(f"{name}: {key} must be {kind.__name__}, but got {type(one).__name__}")


__all__ = ["DEBUG", "OPTIMIZE", "check"]
