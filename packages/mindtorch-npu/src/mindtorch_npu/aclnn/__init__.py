"""The vendor's operator interface as data: the C signature of every `aclnn` operator and what each chip accepts.

`signatures.json` and `limits.json` are the contract between those who call the operators (`mindtorch_npu.backend`) and
the simulator, which share nothing else.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def signatures() -> dict[str, dict[str, Any]]:
    """Return by operator: `params`, its (C type, name) pairs in order; `lib`, the library; `since`, the CANN version."""
    return _read("signatures.json")


@cache
def limits() -> dict[str, dict[str, Any]]:
    """Return by operator: `chips` and `chips_no`, and `args` by name with `dtypes`, `rank` and `io`."""
    return _read("limits.json")


def _read(name: str) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    return table
