"""Several collectives as one: `with _coalescing_manager(): ...`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch.distributed._options import AllgatherOptions, AllreduceCoalescedOptions, ReduceScatterOptions
from mindtorch.distributed._work import Work
from mindtorch.distributed._world import _get_default_group, _world

_ILLEGAL = frozenset("is_success exception wait source_rank _source_rank result synchronize".split())


class _IllegalWork(Work):
    """Stands for a collective that waits for others: it cannot be asked."""

    def __getattribute__(self, name: str) -> Any:
        if name in _ILLEGAL:
            raise ValueError(f"Illegal to call {name} on IllegalWork object")
        return object.__getattribute__(self, name)


class _CollOp:
    """A collective that was called in a block of several."""

    def __init__(
        self, op: Callable[..., Any], tensor: Any, dst_tensor: Any = None, redop: Any = None, root: int | None = None
    ) -> None:
        self.op, self.tensor, self.dst_tensor, self.redop, self.root = op, tensor, dst_tensor, redop, root


def collect(
    group: Any, function: Callable[..., Any], tensor: Any, output: Any, op: Any, async_op: bool
) -> tuple[bool, Any]:
    """Remember a call in a block of several: return whether there is one, and what the call returns."""
    waiting = _world.pg_coalesce_state.get(group)
    if waiting is None:
        return False, None
    waiting.append(_CollOp(function, tensor, output, op, None))
    return True, _IllegalWork() if async_op else None


class _CoalescingManager:
    """What a block of several collectives leaves to wait for."""

    def __init__(self) -> None:
        self.works: list[Any] = []

    def append(self, work: Any = None) -> None:
        """Remember a work."""
        if work:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all."""
        for work in self.works:
            work.wait()


def _all_reduce(group: Any, ops: list[_CollOp], async_ops: bool) -> Any:
    options = AllreduceCoalescedOptions()
    options.reduceOp, options.asyncOp = ops[0].redop, async_ops
    return group.allreduce_coalesced([op.tensor for op in ops], options)


def _all_gather_single(group: Any, ops: list[_CollOp], async_ops: bool) -> Any:
    options = AllgatherOptions()
    options.asyncOp = async_ops
    return group.all_gather_single_coalesced([op.dst_tensor for op in ops], [op.tensor for op in ops], options)


def _reduce_scatter_single(group: Any, ops: list[_CollOp], async_ops: bool) -> Any:
    options = ReduceScatterOptions()
    options.reduceOp, options.asyncOp = ops[0].redop, async_ops
    return group.reduce_scatter_single_coalesced([op.dst_tensor for op in ops], [op.tensor for op in ops], options)


_TOGETHER = {
    "all_reduce": _all_reduce,
    "all_gather_single": _all_gather_single,
    "reduce_scatter_single": _reduce_scatter_single,
}


@contextlib.contextmanager
def _coalescing_manager(group: Any = None, device: Any = None, async_ops: bool = False) -> Iterator[Any]:
    group = group or _get_default_group()
    if _world.pg_coalesce_state.setdefault(group, []):
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    if device:
        group._start_coalescing(device)
    manager = _CoalescingManager()
    try:
        yield manager
    finally:
        ops = _world.pg_coalesce_state.pop(group)
    work = None
    if ops:
        names = {op.op.__name__ for op in ops}
        if len(names) > 1:
            raise RuntimeError(
                f"Coalescing manager requires all collectives to be the same type, but got mixed types: {names}"
            )
        work = _TOGETHER[names.pop()](group, ops, async_ops)
    if device:
        work = group._end_coalescing(device)
    if async_ops:
        manager.append(work)
    elif work is not None:
        work.wait()


class _TimeEstimator:
    """What a block of collectives is said to take."""

    def __init__(self) -> None:
        self.estimated_time: float | None = None


@contextlib.contextmanager
def _time_estimator(group: Any = None, device: Any = None) -> Iterator[Any]:
    backend = (group or _get_default_group())._any()
    raise NotImplementedError(f"collective time estimator is not supported in the current version of backend {backend}")
    yield _TimeEstimator()
