"""A planned operator."""

from __future__ import annotations

from typing import Any, Protocol


class Executor:
    """A planned operator, between its two phases: good for one execution, unless it is made repeatable."""

    def __init__(self, name: str, arguments: dict[str, Any], handles: list[int], workspace: int) -> None:
        self.name = name
        self.repeatable = False
        self.moved = False  # an address was replaced since it was looked at
        self.own: set[str] = set()  # the lists that no enqueued task has
        self.tensors: list[tuple[str, int]] = []  # the arguments that are tensors or lists of them, with their handles
        self.arguments = arguments
        self.handles = handles
        self.workspace = workspace


class Executors(Protocol):
    """Who keeps executors by handle."""

    executors: dict[int, Executor]
