"""Messages from one process to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.distributed._arguments import _check_single_tensor, overridable, real
from mindtorch.distributed._process_group import ProcessGroup
from mindtorch.distributed._world import (
    _canonicalize_group_rank,
    _group_or_default_group,
    _rank_not_in_group,
    _warn_not_in_group,
    get_global_rank,
    get_rank,
)


def _check_not_self_rank(group: Any, rank: int, rank_type: str) -> None:
    if _rank_not_in_group(group):
        raise ValueError("Invalid process group specified")
    if group.rank() == rank:
        raise ValueError(
            f"Invalid {rank_type} rank: {rank_type} rank should not be the same as the rank of the current process."
        )


@overridable("tensor")
def isend(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Any:
    """Start to send a tensor.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> try:
    ...     dist.isend(torch.ones(1), dst=0)
    ... except RuntimeError as error:
    ...     print("Pair is not connected" in str(error))
    True
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst)
    _check_single_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("isend")
    return group.send([real(tensor)], group_dst, tag)


@overridable("tensor")
def irecv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Any:
    """Start to receive a tensor, from any rank where none is given.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> try:
    ...     dist.irecv(torch.ones(1), src=0)
    ... except RuntimeError as error:
    ...     print("Pair is not connected" in str(error))
    True
    >>> dist.destroy_process_group()
    """
    _check_single_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("irecv")
    group = _group_or_default_group(group)
    if src is None and group_src is None:
        return group.recv_anysource([real(tensor)], tag)
    return group.recv([real(tensor)], _canonicalize_group_rank(group, src, group_src), tag)


@overridable("tensor")
def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.send(torch.ones(1), dst=0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: Invalid destination rank: destination rank should not be the same as the rank of the ...
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst)
    _check_not_self_rank(group, group_dst, "destination")
    work = isend(tensor, group=group, tag=tag, group_dst=group_dst)
    if work is not None:
        work.wait()


@overridable("tensor")
def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor; return the rank that it came from.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> try:
    ...     dist.recv(torch.ones(1), src=0)
    ... except RuntimeError as error:
    ...     print("Pair is not connected" in str(error))
    True
    >>> dist.destroy_process_group()
    """
    work = irecv(tensor, src=src, group=group, tag=tag, group_src=group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    group = _group_or_default_group(group)
    if group_src is None:
        group_src = work._source_rank()
        _check_not_self_rank(group, group_src, "source")
    return get_global_rank(group, group_src)


class P2POp:
    """A message of `batch_isend_irecv`.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> op = dist.P2POp(dist.isend, torch.ones(1), peer=0)
    >>> op.peer, op.op.__name__
    (0, 'isend')
    >>> dist.destroy_process_group()
    """

    def __new__(
        cls,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> Any:
        """Check the arguments."""
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        _check_single_tensor(tensor, "tensor")
        return object.__new__(cls)

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = _group_or_default_group(group)
        self.peer = _canonicalize_group_rank(self.group, peer, group_peer, return_global=True)
        self.group_peer = _canonicalize_group_rank(self.group, peer, group_peer)

    def __repr__(self) -> str:
        own, name = get_rank(self.group), self.op.__name__
        source, target = (own, self.group_peer) if "send" in name else (self.group_peer, own)
        return (
            f"P2POp({name} pg={self.group.group_name}, group_src={source}, group_dst={target},  "
            f"{self.tensor.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Any]:
    """Start messages; return their works.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.batch_isend_irecv([dist.isend])
    Traceback (most recent call last):
        ...
    ValueError: Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.
    >>> dist.destroy_process_group()
    """
    if not isinstance(p2p_op_list, list) or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    group = p2p_op_list[0].group
    if not all(op.group == group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    if isinstance(group, ProcessGroup):
        group.expect_messages(p2p_op_list[0].tensor, [op.group_peer for op in p2p_op_list])
    works = []
    for op in p2p_op_list:
        peer = {"group_dst" if op.op is isend else "group_src": op.group_peer}
        works.append(op.op(op.tensor, group=op.group, tag=op.tag, **peer))
    return [work for work in works if work]
