"""How an array lies in memory, as numpy says it."""

from __future__ import annotations

from typing import Any

_NAMES = "C_CONTIGUOUS F_CONTIGUOUS OWNDATA WRITEABLE ALIGNED WRITEBACKIFCOPY FNC FORC BEHAVED CARRAY FARRAY".split()
_SHORT = {
    "C": "C_CONTIGUOUS",
    "F": "F_CONTIGUOUS",
    "O": "OWNDATA",
    "W": "WRITEABLE",
    "A": "ALIGNED",
    "X": "WRITEBACKIFCOPY",
    "B": "BEHAVED",
    "CA": "CARRAY",
    "FA": "FARRAY",
}


class Flags:
    """Answers by name as an index, or as an attribute in small letters. Nothing can be changed."""

    def __init__(self, values: dict[str, bool]) -> None:
        self._values = values

    def __getattr__(self, attr: str) -> bool:
        if attr.islower() and attr.upper() in _NAMES:
            return self[attr.upper()]
        raise AttributeError(f"No flag attribute '{attr}'")

    def __getitem__(self, key: str) -> bool:
        name = _SHORT.get(key, key)
        if name not in _NAMES:
            raise KeyError(f"No flag key '{name}'")
        if name not in self._values:
            raise NotImplementedError(f"key={name!r}")
        return self._values[name]

    def __setattr__(self, attr: str, value: Any) -> None:
        if attr.islower() and attr.upper() in _NAMES:
            self[attr.upper()] = value
        else:
            super().__setattr__(attr, value)

    def __setitem__(self, key: str, value: Any) -> None:
        if key in _NAMES or key in _SHORT:
            raise NotImplementedError("Modifying flags is not implemented")
        raise KeyError(f"No flag key '{key}'")


def flags_of(tensor: Any) -> Flags:
    """Return the flags of a tensor; every one can be written to."""
    columns = tensor.permute(tuple(reversed(range(tensor.ndim))))
    return Flags(
        {
            "C_CONTIGUOUS": tensor.is_contiguous(),
            "F_CONTIGUOUS": columns.is_contiguous(),
            "OWNDATA": tensor._base is None,
            "WRITEABLE": True,
        }
    )
