"""What long runs counted so far, in a file, so that one that was stopped goes on and several count together.

A record belongs to a state of the sources. Of other sources, what it counted says nothing, and it starts anew; what was
counted of states before is kept apart.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
from pathlib import Path
from typing import Any

from mindtorch_testing.sweep.board import write_atomically

PACKAGES = (
    "mindtorch", "mindtorch_storage", "mindtorch_dispatch", "mindtorch_runtime", "mindtorch_autograd", "mindtorch_cpu",
    "mindtorch_npu", "mindtorch_distributed", "mindtorch_proxy",
)  # fmt: skip


def state_of_sources() -> str:
    """A number for what is installed of MindTorch: sources, tables and compiled modules."""
    digest = hashlib.sha256()
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        root = Path(found.origin).parent
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(root)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def merged(kept: Any, fresh: Any) -> Any:
    """Numbers are added, lists hold what either has, tables are merged name by name."""
    if isinstance(kept, dict):
        return {key: merged(kept[key], fresh[key]) if key in kept and key in fresh else {**kept, **fresh}[key]
                for key in {**kept, **fresh}}  # fmt: skip
    if isinstance(kept, list):
        known = {json.dumps(item) for item in kept}
        return kept + [item for item in fresh if json.dumps(item) not in known]
    return kept + fresh


class Record:
    """A file of counts, to which several processes may add; without a path, the counts of this process."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._sources = state_of_sources() if path else ""
        self._own: dict[str, Any] = {}

    def read(self) -> dict[str, Any]:
        """Return what was counted of these sources."""
        return self._parts()[0]

    def earlier(self) -> dict[str, Any]:
        """Return what was counted of other sources, and of how many states of them as `states`."""
        return self._parts()[1]

    def _parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        if self.path is None or not self.path.exists():
            return self._own, {}
        data = json.loads(self.path.read_text())
        counted, earlier = dict(data["counted"]), dict(data.get("earlier", {}))
        if data["sources"] == self._sources:
            return counted, earlier
        return {}, merged(earlier, {**counted, "states": 1})

    def add(self, counted: dict[str, Any]) -> dict[str, Any]:
        """Add counts, and return the sum."""
        if self.path is None:
            self._own = merged(self._own, counted)
            return self._own
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_name(f"{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before, earlier = self._parts()
            total: dict[str, Any] = merged(before, counted)
            data = {"sources": self._sources, "counted": total, "earlier": earlier}
            write_atomically(self.path, json.dumps(data))
        return total
