"""What is simulated: the text of `MINDTORCH_NPU_SIMULATOR`, such as `Ascend910B3:2,memory=1GiB,fail=rt.malloc@3=207001`."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

VARIABLE = "MINDTORCH_NPU_SIMULATOR"
_UNITS = {"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
STATES = ("hung", "missing", "full", "ecc")
"""Settings that say what is wrong with a device: `hung=1` is one that never answers."""


@dataclass(frozen=True)
class Fault:
    """From its `first` call on, for `count` calls (0: for good), `call` answers `code`."""

    call: str
    first: int
    code: int
    count: int = 1


@dataclass(frozen=True)
class Settings:
    """A simulated host: its chip's data, how many devices, bytes of memory each, and the faults to inject."""

    chip: str
    facts: dict[str, Any]
    devices: int = 1
    memory: int = 0
    delay: float = 0.0
    priorities: bool = False
    races: bool = False
    faults: tuple[Fault, ...] = field(default=())
    hung: frozenset[int] = frozenset()
    missing: frozenset[int] = frozenset()
    full: frozenset[int] = frozenset()
    ecc: frozenset[int] = frozenset()


@cache
def chips() -> dict[str, dict[str, Any]]:
    """Return the known chips by SoC name."""
    table: dict[str, dict[str, Any]] = json.loads((files(__package__) / "chips.json").read_text(encoding="utf-8"))
    return table


def wanted() -> bool:
    """Return whether the environment asks for the simulator."""
    return bool(os.environ.get(VARIABLE))


def parse(text: str) -> Settings:
    """Return the settings that `text` describes; ValueError naming the part that is wrong."""
    head, *parts = [part.strip() for part in text.split(",")]
    chip, _, count = head.partition(":")
    if chip not in chips():
        raise ValueError(f"{VARIABLE}: no chip {chip!r}; known are {', '.join(chips())}")
    if count and not re.fullmatch(r"[1-9]\d*", count):
        raise ValueError(f"{VARIABLE}: {count!r} is no number of devices")
    facts = chips()[chip]
    chosen: dict[str, Any] = {"devices": int(count or 1), "memory": facts["hbm"]}
    faults: list[Fault] = []
    for part in parts:
        key, _, value = part.partition("=")
        if key == "memory":
            chosen["memory"] = _bytes(value)
        elif key == "delay":
            chosen["delay"] = float(value)
        elif key == "priorities":
            chosen["priorities"] = value == "1"
        elif key == "races":
            chosen["races"] = value == "1"
        elif key == "fail":
            faults.append(_fault(value))
        elif key in STATES:
            if not value.isdecimal() or int(value) >= chosen["devices"]:
                raise ValueError(f"{VARIABLE}: {part!r} names no device")
            chosen[key] = chosen.get(key, frozenset()) | {int(value)}
        else:
            known = ", ".join(("memory", "delay", "priorities", "races", "fail", *STATES))
            raise ValueError(f"{VARIABLE}: unknown setting {part!r}; known are {known}")
    return Settings(chip, facts, faults=tuple(faults), **chosen)


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*(\w*)", text)
    if match is None or match.group(2).upper() not in _UNITS:
        raise ValueError(f"{VARIABLE}: {text!r} is no number of bytes, such as 512MiB or 1GiB")
    return int(match.group(1)) * _UNITS[match.group(2).upper()]


def _fault(text: str) -> Fault:
    match = re.fullmatch(r"([\w.]+)@(\d+)(\+?)=(\d+)", text)
    if match is None:
        raise ValueError(f"{VARIABLE}: {text!r} is no fault, such as rt.malloc@3=207001 (or @3+ from then on)")
    call, first, on, code = match.groups()
    return Fault(call, int(first), int(code), 0 if on else 1)
