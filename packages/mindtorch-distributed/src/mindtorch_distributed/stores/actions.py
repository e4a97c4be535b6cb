"""What can be done to the data of a store: the same for every kind of store."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Contents:
    """The keys and queues of a store."""

    values: dict[str, bytes] = field(default_factory=dict)
    queues: dict[str, deque[bytes]] = field(default_factory=dict)

    def carry_out(self, key: str, action: str, *values: bytes) -> Any:
        """Do one action; KeyError for a key that is not there."""
        return getattr(self, f"do_{action}")(key, *values)

    def do_set(self, key: str, value: bytes) -> None:
        """Set the key."""
        self.values[key] = value

    def do_get(self, key: str) -> bytes:
        """The value."""
        return self.values[key]

    def do_check(self, key: str) -> bool:
        """Whether it is there."""
        return key in self.values

    def do_add(self, key: str, amount: bytes) -> int:
        """Add to a number; ValueError when there is something else."""
        try:
            total = int(self.values.get(key, b"0")) + int(amount)
        except ValueError:
            raise ValueError("stoll") from None
        self.values[key] = str(total).encode()
        return total

    def do_compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Set the key when it is as expected; return what it is, or what was expected when there is none."""
        now = self.values.get(key)
        if now == expected or (now is None and not expected):
            self.values[key] = desired
            return desired
        return expected if now is None else now

    def do_delete(self, key: str) -> bool:
        """Remove the key."""
        return self.values.pop(key, None) is not None

    def do_append(self, key: str, value: bytes) -> None:
        """Put the value behind the key's."""
        self.values[key] = self.values.get(key, b"") + value

    def do_keys(self, key: str) -> list[str]:
        """All keys."""
        return list(self.values)

    def do_queue_push(self, key: str, value: bytes) -> None:
        """Put the value at the end."""
        self.queues.setdefault(key, deque()).append(value)

    def do_queue_pop(self, key: str) -> bytes | None:
        """Take the first value, if there is one."""
        queue = self.queues.get(key)
        return queue.popleft() if queue else None

    def do_queue_len(self, key: str) -> int:
        """How many values there are."""
        return len(self.queues.get(key, ()))
