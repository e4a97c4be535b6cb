"""The allocator's options: the text of `PYTORCH_NPU_ALLOC_CONF` or `PYTORCH_ALLOC_CONF`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Any

VARIABLES = ("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
MIB = 2**20
UNLIMITED = 2**63 - 1


@dataclass(frozen=True)
class Config:
    """The options, sizes in bytes."""

    max_split_size: int = UNLIMITED
    max_non_split_rounding: int = 20 * MIB
    large_segment_size: int = 20 * MIB
    garbage_collection_threshold: float = 0.0
    roundup_power2_divisions: tuple[tuple[int, int], ...] = ()
    per_process_memory_fraction: float = 1.0
    throw_on_npumalloc_oom: bool = False
    expandable_segments: bool = False
    pinned_max_round_threshold: int = UNLIMITED
    pinned_max_cached_size: int = UNLIMITED
    text: str = ""
    others: dict[str, str] = field(default_factory=dict, hash=False, compare=False)

    def divisions(self, size: int) -> int:
        """Return into how many steps the interval between two powers of two around `size` is divided; 0: 512 bytes."""
        found = 0
        for start, parts in self.roundup_power2_divisions:
            if size >= start:
                found = parts
        return found


def from_environment() -> Config:
    """Return the options of the environment. Raises RuntimeError when both variables are set."""
    given = [os.environ[name] for name in VARIABLES if os.environ.get(name)]
    if len(given) > 1:
        raise RuntimeError(f"{VARIABLES[0]} and {VARIABLES[1]} are both set; set one of them")
    return parse(given[0] if given else "")


def parse(text: str, base: Config | None = None) -> Config:
    """Return `base` with the options of `text`, `key:value` pairs apart by commas; ValueError with torch's texts."""
    config = replace(base or Config(), text=text)
    for key, value in _pairs(re.sub(r"\s", "", text)):
        reader = _READERS.get(key)
        if reader is None:
            raise ValueError(f"Unrecognized key '{key}' in NPU allocator config.")
        config = replace(config, **reader(value))
    return config


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = []
    for part in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text):
        key, colon, value = part.partition(":")
        if not colon or not value:
            raise RuntimeError(f"Error, expecting a value after '{key}' in NPU allocator config")
        pairs.append((key, value))
    return pairs


def _whole(value: str) -> int:
    if not re.fullmatch(r"\d+", value):
        raise ValueError("stoull")
    return int(value)


def _size(field_name: str, key: str, least: int) -> Any:
    def read(value: str) -> dict[str, Any]:
        size = _whole(value)
        if size < least:
            raise ValueError(f"CachingAllocator option {key} too small, must be >= {least}")
        return {field_name: size * MIB}

    return read


def _segment(value: str) -> dict[str, Any]:
    size = _whole(value)
    if size <= 10:
        raise ValueError("CachingAllocator option large_segment_size_mb must be > 10 MB")
    return {"large_segment_size": size * MIB}


def _threshold(value: str) -> dict[str, Any]:
    share = float(value)
    if not 0.0 < share < 1.0:
        raise ValueError("garbage_collect_threshold is invalid, set it in (0.0, 1.0)")
    return {"garbage_collection_threshold": share}


def _fraction(value: str) -> dict[str, Any]:
    share = float(value)
    if not 0.0 <= share <= 1.0:
        raise ValueError("per_process_memory_fraction is invalid, set it in [0.0, 1.0]")
    return {"per_process_memory_fraction": share}


def _switch(field_name: str) -> Any:
    def read(value: str) -> dict[str, Any]:
        if value not in ("True", "False"):
            raise ValueError(f"Expected 'True' or 'False' at index 2 in ConfigTokenizer but got '{value}'")
        return {field_name: value == "True"}

    return read


def _power(value: int, text: str) -> int:
    if value < 1 or value & (value - 1):
        raise ValueError(text)
    return value


def _divisions(value: str) -> dict[str, Any]:
    steps = "For roundups, the divisions has to be power of 2 "
    if not value.startswith("["):
        return {"roundup_power2_divisions": ((0, _power(_whole(value), steps)),)}
    table: list[tuple[int, int]] = []
    last = 0
    for part in value.strip("[]").split(","):
        bound, _, parts = part.partition(":")
        count = _power(_whole(parts), steps)
        if bound == ">":
            table.append((last, count))
            continue
        size = _power(_whole(bound), "For roundups, the intervals have to be power of 2 ") * MIB
        # An interval's divisions hold for sizes from half of its bound up, the first's for all below as well.
        table.append((0 if not table else size // 2, count))
        last = size
    return {"roundup_power2_divisions": tuple(sorted(table))}


_READERS: dict[str, Any] = {
    "max_split_size_mb": _size("max_split_size", "max_split_size_mb", 20),
    "max_non_split_rounding_mb": _size("max_non_split_rounding", "max_non_split_rounding_mb", 20),
    "large_segment_size_mb": _segment,
    "garbage_collection_threshold": _threshold,
    "per_process_memory_fraction": _fraction,
    "roundup_power2_divisions": _divisions,
    "expandable_segments": _switch("expandable_segments"),
    "throw_on_npumalloc_oom": _switch("throw_on_npumalloc_oom"),
    "pinned_max_round_threshold_mb": _size("pinned_max_round_threshold", "pinned_max_round_threshold_mb", 0),
    "pinned_max_cached_size_mb": _size("pinned_max_cached_size", "pinned_max_cached_size_mb", 0),
}
