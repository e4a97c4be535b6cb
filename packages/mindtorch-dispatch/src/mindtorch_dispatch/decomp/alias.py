"""Ops that are another op by a second name."""

from __future__ import annotations

from typing import Any

from ..call import aten


class Alias:
    """The composition of such an op: calls the other one, also in place and with `out=`, which makes the checks there."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *values: object) -> Any:
        """Return the other op's result."""
        return self._call(self.name, values, {})

    def in_place(self, *values: object) -> Any:
        """Call the other op's in-place form."""
        return self._call(f"{self.name}_", values, {})

    def into(self, out: object, *values: object) -> Any:
        """Call the other op with `out=`."""
        return self._call(self.name, values, {"out": out})

    @staticmethod
    def _call(name: str, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name in ("sub", "sub_"):
            *values, alpha = values  # type: ignore[assignment]
            options["alpha"] = alpha
        return getattr(aten, name)(*values, **options)


def alias_of(name: str) -> Alias:
    """Return what calls the op `name` with the same arguments."""
    return Alias(name)
