"""The types of TorchScript's graphs, of which there are none; functions for exporters name them in annotations."""

from typing import Any, NoReturn


class _Absent:
    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch._C.{type(self).__name__}: there is no TorchScript")


class Graph(_Absent):
    """A program of TorchScript; making one raises."""


class Block(_Absent):
    """A part of such a program; making one raises."""


class Node(_Absent):
    """A step of such a program; making one raises."""


class Value(_Absent):
    """A value of such a program; making one raises."""
