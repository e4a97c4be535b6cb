"""What one file may cost: a ledger of memory, and how deep what it calls may be nested."""

from __future__ import annotations

import math
import pickle
from typing import Any

SLACK = 48 << 20
"""Bytes that any file may cost, however small it is."""
PER_BYTE = 2
"""Bytes that a file may cost for each of its own."""
PICKLE_PER_BYTE = 16
"""Bytes of containers that each byte of a pickle may make beside that: six bytes spell out an empty dictionary."""
DEPTH = 64
"""How deep arguments and keys may be nested: as deep as the data of a tensor can be."""
_KEY_ITEMS = 1000


class Budget:
    """The memory that one load may still take, whatever the file calls for it.

    Every part of a load shares the one object. `size` is the file's length; None stands for a file that is trusted.
    """

    __slots__ = ("_given", "left")

    def __init__(self, size: int | None) -> None:
        self.left: float = math.inf if size is None else SLACK + PER_BYTE * size
        self._given = self.left

    def take(self, nbytes: int) -> None:
        """Count memory that is about to be taken; RuntimeError when the file has none left."""
        if nbytes > self.left:
            raise RuntimeError(
                f"Refused to load: this file asks for more than {int(self._given)} bytes of memory, which is "
                f"{PER_BYTE} times its size and {SLACK >> 20} MiB. The file might be corrupted or made to exhaust "
                "memory. Only for a file that you trust, `weights_only=False` lifts the limit."
            )
        self.left -= nbytes


UNLIMITED = Budget(None)


def check_key(key: tuple[Any, ...]) -> None:
    """Refuse tuples whose hash would take for ever, or more of the C stack than there is: they are hashed recursively."""
    level, seen = [key], 0
    for _ in range(DEPTH):
        seen += sum(map(len, level))
        if seen > _KEY_ITEMS:
            break
        level = [item for each in level for item in each if type(item) is tuple]
        if not level:
            return
    raise pickle.UnpicklingError("Refused a key of a dictionary or set: it is nested too deep or too large")


def measure(data: Any) -> int:
    """The number of items of nested lists and tuples, each counted as often as it is met.

    Raises UnpicklingError for what is nested deeper than `DEPTH`, as everything that contains itself is.
    """
    count, weighted = 1, {id(data): (data, 1)}
    for _ in range(DEPTH):
        below: dict[int, tuple[Any, int]] = {}
        for item, times in weighted.values():
            if type(item) is list or type(item) is tuple:
                count += len(item) * times
                for each in item:
                    if type(each) is list or type(each) is tuple:
                        below[id(each)] = (each, below.get(id(each), (None, 0))[1] + times)
        if not below:
            return count
        weighted = below
    raise pickle.UnpicklingError(f"Refused data that is nested deeper than {DEPTH} levels")
