"""Writes to saved tensors that are allowed: what was saved is copied when, and only when, its memory is written.

While a block of `allow_mutation_on_saved_tensors` is open, `Mode.watching` is set, so every plan of that time that writes
is made here and shows its targets first; programs without such a block pay nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from mindtorch_dispatch.arguments.bound import Bound
from mindtorch_dispatch.execute.again import RETRIED, run_again
from mindtorch_dispatch.execute.executor import Plan
from mindtorch_dispatch.state import mode_set
from mindtorch_storage.tensor_base import TensorBase

from .saved_hooks import saved_tensors_hooks

_OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally "
    "recorded."
)


class _Handle:
    """What the graph holds in the place of a saved tensor."""

    __slots__ = ("__weakref__",)


def _memory(tensor: TensorBase) -> int:
    return tensor._materialized_storage().data_ptr()


class _AllowMutationOnSavedContext:
    """What one block saved, by the handles that the graph holds: `original` until it is written, `cloned` after that."""

    def __init__(self) -> None:
        self.original: WeakKeyDictionary[_Handle, Any] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Handle, Any] = WeakKeyDictionary()
        self.tid_to_weakhandle: WeakValueDictionary[tuple[int, int], _Handle] = WeakValueDictionary()
        self._by_memory: dict[int, WeakSet[_Handle]] = {}

    def clear(self) -> None:
        """Forget everything; a backward through what the block recorded raises from now on."""
        self.original.clear()
        self.cloned.clear()
        self.tid_to_weakhandle.clear()
        self._by_memory.clear()

    def pack(self, tensor: TensorBase) -> _Handle:
        """Return the handle of a tensor at its present version, the same one for what is saved twice."""
        name = (id(tensor), tensor._counter[0])
        handle = self.tid_to_weakhandle.get(name)
        if handle is None or self.original.get(handle) is not tensor:
            handle = self.tid_to_weakhandle[name] = _Handle()
            self.original[handle] = tensor
            self._by_memory.setdefault(_memory(tensor), WeakSet()).add(handle)
        return handle

    def unpack(self, handle: _Handle) -> Any:
        """Return the tensor as it was when it was saved; AssertionError when the block has ended."""
        if not _open:
            raise AssertionError(_OUTSIDE)
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None:
            raise AssertionError(_OUTSIDE)
        return found

    def before_write(self, target: TensorBase) -> None:
        """Copy what was saved of the target's memory."""
        handles = self._by_memory.pop(_memory(target), None) if self._by_memory else None
        for handle in handles or ():
            self.cloned[handle] = self.original.pop(handle).detach().clone()


_open: list[_AllowMutationOnSavedContext] = []
"""The context of the open block; the process has one at most, as in torch."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """In the block, tensors saved for backward may be written: the first write copies what was saved.

    Raises RuntimeError inside another such block; backward after the block raises AssertionError.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = (y**2).sum()
    ...     y.zero_()
    ...     z.backward()
    tensor([0.], grad_fn=<ZeroBackward0>)
    >>> x.grad
    tensor([2.])
    """
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        if _open:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        _open.append(context)
        try:
            with mode_set(watching=True):
                yield context
        finally:
            context.clear()
            _open.clear()


def plan_watched(bound: Bound, inner: Plan) -> Plan:
    """Return the plan that shows what it writes to the open block, and then runs `inner`."""
    arguments = bound.row.schema.arguments
    written = [at for argument, at in zip(arguments, bound.sources, strict=True) if argument.is_write]
    places = [at for at in (*written, bound.out_source) if at is not None]
    if not places:
        return inner
    plan = Plan(bound.row, _run)
    plan.kernel = inner
    plan.source = places
    return plan


def _targets(values: Sequence[Any]) -> Iterator[TensorBase]:
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _targets(value)


def _run(plan: Plan, flat: tuple[Any, ...]) -> Any:
    inner = plan.kernel
    for context in _open:
        for target in _targets([flat[at] for at in plan.source]):
            context.before_write(target)
    try:
        return inner.run(inner, flat)
    except RETRIED as error:  # the plan that writes is the one to run again, not this
        return run_again(inner, flat, error)
