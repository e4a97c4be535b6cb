"""Functions that one process calls for all, or all for one another: where one fails, all of them know why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from mindtorch import distributed as dist
from mindtorch._naming import adopt

__all__ = ["SyncPayload", "all_gather", "all_gather_object_enforce_type", "broadcast"]

T = TypeVar("T")


@dataclass
class SyncPayload(Generic[T]):
    """What a process tells the others: a value, or what its function raised.

    >>> from torch.distributed.collective_utils import SyncPayload
    >>> SyncPayload(stage_name="load", success=True, payload=3)
    SyncPayload(stage_name='load', success=True, payload=3, exception=None)
    """

    stage_name: str | None
    success: bool
    payload: T
    exception: Exception | None = None


def _attempt(data_or_fn: Any, stage_name: str | None, success: bool = True) -> SyncPayload[Any]:
    if not callable(data_or_fn):
        return SyncPayload(stage_name, success, data_or_fn)
    try:
        return SyncPayload(stage_name, success, data_or_fn())
    except Exception as error:  # noqa: BLE001 - all processes raise it
        return SyncPayload(stage_name, False, None, error)


def broadcast(
    data_or_fn: T | Callable[[], T],
    *,
    success: bool = True,
    stage_name: str | None = None,
    rank: int = 0,
    pg: dist.ProcessGroup | None = None,
) -> T:
    """Return a value of one process, or what its function returns, in all; what it raises, all raise.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> from torch.distributed.collective_utils import broadcast
    >>> broadcast(lambda: 3, rank=0)
    3
    >>> dist.destroy_process_group()
    """
    if not success and data_or_fn is not None:
        raise AssertionError("Data or Function is expected to be None if not successful")
    told = SyncPayload[Any](stage_name, success, None)
    if pg is None or dist.get_rank(pg) == rank:
        told = _attempt(data_or_fn, stage_name, success)
    if pg is not None:
        boxes: list[Any] = [told]
        dist.broadcast_object_list(boxes, src=dist.get_global_rank(pg, rank), group=pg)
        told = boxes[0]
    if not told.success:
        stage = f"stage {told.stage_name}: " if stage_name is not None else ""
        raise RuntimeError(f"Rank {rank} failed: {stage}exception {told.exception}") from told.exception
    return cast(T, told.payload)


def all_gather(
    data_or_fn: T | Callable[[], T], stage_name: str | None = None, pg: dist.ProcessGroup | None = None
) -> list[T]:
    """Return the values of all processes, or what their functions return; what some raise, all raise.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> from torch.distributed.collective_utils import all_gather
    >>> all_gather("a")
    ['a']
    >>> dist.destroy_process_group()
    """
    told: list[Any] = [_attempt(data_or_fn, stage_name)]
    if pg is not None:
        found: list[Any] = [None] * dist.get_world_size(pg)
        all_gather_object_enforce_type(pg, found, told[0])
        told = found
    errors = [one.exception for one in told if one.exception is not None]
    if errors:
        shown = errors[0] if pg is None else errors
        raise RuntimeError(f"all_gather failed with exception {shown}") from errors[0]
    return [one.payload for one in told]


def all_gather_object_enforce_type(
    pg: dist.ProcessGroup,
    object_list: list[Any],
    obj: Any,
    type_checker: Callable[[Any, Any], bool] = lambda x, y: type(x) is type(y),
) -> None:
    """Fill a list with the objects of all processes, which must be of one type.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> from torch.distributed.collective_utils import all_gather_object_enforce_type
    >>> found = [None]
    >>> all_gather_object_enforce_type(dist.group.WORLD, found, 3)
    >>> found
    [3]
    >>> dist.destroy_process_group()
    """
    dist.all_gather_object(object_list, obj, group=pg)
    first = object_list[0]
    for other in object_list[1:]:
        if not type_checker(first, other):
            kinds = f"{type(other)}, while first object type is {type(first)}"
            raise TypeError(f"Object type at index {object_list.index(other)} is {kinds}")


adopt(globals())
