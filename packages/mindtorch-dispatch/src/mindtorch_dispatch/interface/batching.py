"""What the planner asks of `batching`, which answers once it is imported.

Batched tensors only exist after that import, so programs without `vmap` never load the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..keys import DispatchKey
from ..plan import Plan

BATCHED_MASK = 1 << DispatchKey.Batched
"""Included while this thread runs a function under `vmap`."""


class BatchingHooks:
    """The installed functions: `plan` of a bound call under `vmap`, None where the key changes nothing; `escaped`, whether
    a tensor belongs to a batch that is closed."""

    __slots__ = ("escaped", "plan")

    def __init__(self) -> None:
        self.plan: Callable[[Any, Sequence[TensorBase]], Plan | None] = lambda bound, tensors: None
        self.escaped: Callable[[TensorBase], bool] = lambda tensor: False


hooks = BatchingHooks()
"""The process's batching, if any."""
