"""The plan of a call: everything the executor needs for one geometry of one op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.tensor_base import TensorBase

from ..interface.native import copied, native_path
from ..interface.wiring import wired
from ..table import OpRow


class Plan:
    """Everything the executor needs for one geometry of one op. Immutable once made.

    `values` is the kernel's argument list with every constant in place; `tensors` and `scalars` are (index, source)
    pairs that fill the rest from `flat`; `prepare` does the rarer rest (lists, casts, wrapped integers). `wraps` says that
    Python ints among the scalars are wrapped to a dtype. `native` belongs to the native call path.
    """

    __slots__ = (
        "alloc",
        "before",
        "casts",
        "cls",
        "creation",
        "eager",
        "follows",
        "kernel",
        "lists",
        "native",
        "np_dtype",
        "offset",
        "out_index",
        "outputs",
        "pack",
        "prepare",
        "record",
        "row",
        "run",
        "scalars",
        "shape",
        "sig",
        "source",
        "spec",
        "tensors",
        "values",
        "wraps",
    )

    # Set by the stages that know them; a plan that does not need one leaves its slot unset.
    eager: Any
    native: Any
    np_dtype: np.dtype[Any]
    out_index: int
    outputs: Any
    shape: tuple[int, ...]
    sig: Any
    source: Any
    spec: Any

    def __init__(self, row: OpRow, run: Callable[[Plan, tuple[Any, ...]], Any]) -> None:
        self.row = row
        self.run = run
        self.alloc: Callable[..., Any] = np.empty
        self.kernel: Any = None
        self.before: Any = None
        self.prepare: Any = None
        self.record: Any = None
        self.pack: Any = None
        self.tensors: Sequence[tuple[int, int]] = ()
        self.scalars: Sequence[tuple[int, int]] = ()
        self.lists: Sequence[tuple[int, int]] = ()
        self.values: list[Any] = []
        self.casts = False
        self.wraps = False
        self.cls: type[TensorBase] = wired.tensor_class
        self.creation: str | None = "default"
        self.follows = False
        self.offset: Any = 0

    def copied(self) -> Plan:
        """Return a plan with all that this one says, to be changed before its first run."""
        made: Plan = copied(self, _KEPT)
        return made


_KEPT = tuple(name for name in Plan.__slots__ if name not in ("eager", "native"))

plain_types: set[type] = {TensorBase}
"""Tensor types that no `__torch_function__` override can apply to."""


wrapping_types: set[type] = set()
"""Tensor types whose calls are planned by the geometry that they show, whatever they hold."""

opaque_types: set[type] = set()
"""Types of arguments that only the kernel looks at (`Generator`): a plan holds for every value of such a type."""


def set_tensor_class(cls: type[TensorBase], *also_plain: type[TensorBase]) -> None:
    """Make `cls` the class of every result; it and `also_plain` take the planned path without override checks."""
    wired.tensor_class = native_path.tensor_class[0] = cls
    plain_types.update((cls, *also_plain))
