"""`torch._library.simple_registry`: what programs registered for an operator's results without values."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindtorch._naming import adopt
from mindtorch_dispatch.registry import registry

__all__ = ["SimpleLibraryRegistry", "SimpleOperatorEntry", "singleton"]


class Kernel(NamedTuple):
    """A function, and where it was registered."""

    func: Any
    source: str


class FakeImplHolder:
    """The rule for an operator's results on the meta device."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname

    @property
    def kernel(self) -> Kernel | None:
        """The rule, None without one."""
        row = registry.find(self.qualname)
        entry = None if row is None else row.__dict__.get("entry")
        found = None if entry is None else entry.registered("Meta")
        return None if found is None else Kernel(found.function, found.place)


class SimpleOperatorEntry:
    """What is kept of one operator."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.fake_impl = FakeImplHolder(qualname)


class SimpleLibraryRegistry:
    """The entries of all operators."""

    def find(self, qualname: str) -> SimpleOperatorEntry:
        """Return the entry of an operator, which need not be defined yet."""
        return SimpleOperatorEntry(qualname)


singleton = SimpleLibraryRegistry()

adopt(globals())
