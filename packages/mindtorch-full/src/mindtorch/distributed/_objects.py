"""Collectives on Python's objects, which travel as pickles. Use them among processes that trust each other."""

from __future__ import annotations

import io
import pickle
from typing import Any

import mindtorch
from mindtorch.distributed._collectives import (
    broadcast,
)
from mindtorch.distributed._gathers import (
    _validate_output_list_for_rank,
    all_gather,
    gather,
    scatter,
)
from mindtorch.distributed._messages import P2POp, _check_not_self_rank, batch_isend_irecv, irecv, isend, recv, send
from mindtorch.distributed._world import (
    _canonicalize_group_rank,
    _get_object_coll_device,
    _group_or_default_group,
    _rank_not_in_group,
    _rank_of_root,
    _warn_not_in_group,
    get_global_rank,
    get_world_size,
)

_pickler = pickle.Pickler
_unpickler = pickle.Unpickler


def _object_to_tensor(obj: Any, device: Any, group: Any) -> tuple[Any, Any]:
    file = io.BytesIO()
    _pickler(file).dump(obj)
    content = mindtorch.frombuffer(bytearray(file.getvalue()), dtype=mindtorch.uint8).to(device)
    return content, mindtorch.tensor([content.numel()], dtype=mindtorch.long, device=device)


def _tensor_to_object(tensor: Any, tensor_size: Any, group: Any) -> Any:
    content = tensor.cpu().numpy().tobytes()[: int(tensor_size)]
    return _unpickler(io.BytesIO(content)).load()


def _padded(tensor: Any, size: int) -> Any:
    result = mindtorch.zeros(size, dtype=mindtorch.uint8, device=tensor.device)
    result[: tensor.numel()] = tensor
    return result


def _gathered_sizes(local_size: Any, group: Any, device: Any) -> list[int]:
    sizes = [mindtorch.zeros(1, dtype=mindtorch.long, device=device) for _ in range(get_world_size(group=group))]
    all_gather(sizes, local_size, group=group)
    return [int(size.item()) for size in sizes]


def all_gather_object(object_list: Any, obj: Any, group: Any = None) -> None:
    """Fill the list with the objects of all.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.all_gather_object(found, {"loss": 0.5})
    >>> found
    [{'loss': 0.5}]
    >>> dist.destroy_process_group()
    """
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_gather_object")
    device = _get_object_coll_device(group)
    content, local_size = _object_to_tensor(obj, device, group)
    sizes = _gathered_sizes(local_size, group, device)
    outputs = [mindtorch.empty(max(sizes), dtype=mindtorch.uint8, device=device) for _ in sizes]
    all_gather(outputs, _padded(content, max(sizes)), group=group)
    for place, (output, size) in enumerate(zip(outputs, sizes, strict=True)):
        object_list[place] = _tensor_to_object(output, size, group)
    return None


def gather_object(
    obj: Any, object_gather_list: Any = None, dst: int | None = None, group: Any = None, group_dst: int | None = None
) -> None:
    """Fill the list of a rank with the objects of all.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.gather_object("a", found, dst=0)
    >>> found
    ['a']
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_dst = _rank_of_root(group, dst, group_dst)
    if _rank_not_in_group(group):
        return _warn_not_in_group("gather_object")
    _validate_output_list_for_rank(group.rank(), group_dst, object_gather_list)
    device = _get_object_coll_device(group)
    content, local_size = _object_to_tensor(obj, device, group)
    sizes = _gathered_sizes(local_size, group, device)
    outputs = None
    if group.rank() == group_dst:
        outputs = [mindtorch.empty(max(sizes), dtype=mindtorch.uint8, device=device) for _ in sizes]
    gather(_padded(content, max(sizes)), gather_list=outputs, group_dst=group_dst, group=group)
    for place, (output, size) in enumerate(zip(outputs or (), sizes, strict=False)):
        object_gather_list[place] = _tensor_to_object(output, size, group)
    return None


def _packed(objects: Any, device: Any, group: Any) -> tuple[Any, Any]:
    contents, sizes = zip(*[_object_to_tensor(obj, device, group) for obj in objects], strict=True)
    return mindtorch.cat(contents), mindtorch.cat(sizes)


def _unpack(object_list: list[Any], content: Any, sizes: Any, group: Any) -> None:
    start = 0
    for place, size in enumerate(sizes.tolist()):
        object_list[place] = _tensor_to_object(content[start : start + size], size, group)
        start += size


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to a rank.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.send_object_list([1], dst=0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: Invalid destination rank: destination rank should not be the same as the rank of the ...
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst)
    _check_not_self_rank(group, group_dst, "destination")
    if _rank_not_in_group(group):
        return _warn_not_in_group("send_object_list")
    content, sizes = _packed(object_list, device or _get_object_coll_device(group), group)
    for tensor in (sizes, content):
        if use_batch:
            batch_isend_irecv([P2POp(isend, tensor, group_peer=group_dst, group=group)]).pop().wait()
        else:
            send(tensor, group_dst=group_dst, group=group)
    return None


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> Any:
    """Fill the list with objects from a rank; return the rank.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.recv_object_list([1], src=0)
    Traceback (most recent call last):
        ...
    ValueError: Invalid source rank: source rank should not be the same as the rank of the current process.
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_src = _canonicalize_group_rank(group, src, group_src)
    _check_not_self_rank(group, group_src, "source")
    if _rank_not_in_group(group):
        _warn_not_in_group("recv_object_list")
        return -1
    device = device or _get_object_coll_device(group)

    def receive(tensor: Any) -> int:
        if use_batch:
            batch_isend_irecv([P2POp(irecv, tensor, group_peer=group_src, group=group)]).pop().wait()
            return get_global_rank(group, group_src)
        return recv(tensor, group=group, group_src=group_src)

    sizes = mindtorch.empty(len(object_list), dtype=mindtorch.long, device=device)
    first = receive(sizes)
    content = mindtorch.empty(int(sizes.sum()), dtype=mindtorch.uint8, device=device)
    if receive(content) != first:
        raise AssertionError("Mismatch in return ranks for object sizes and objects.")
    _unpack(object_list, content, sizes, group)
    return first


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Fill the lists of all with the objects of a rank.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = ["a", 3]
    >>> dist.broadcast_object_list(found, src=0)
    >>> found
    ['a', 3]
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_src = _rank_of_root(group, src, group_src)
    if _rank_not_in_group(group):
        return _warn_not_in_group("broadcast_object_list")
    device = device or _get_object_coll_device(group)
    own = group.rank() == group_src
    if own:
        content, sizes = _packed(object_list, device, group)
    else:
        sizes = mindtorch.empty(len(object_list), dtype=mindtorch.long, device=device)
    broadcast(sizes, group_src=group_src, group=group)
    if not own:
        content = mindtorch.empty(int(sizes.sum()), dtype=mindtorch.uint8, device=device)
    broadcast(content, group_src=group_src, group=group)
    if not own:
        _unpack(object_list, content, sizes, group)
    return None


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Any = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Give each rank its object of a rank's list.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.scatter_object_list(found, ["a"], src=0)
    >>> found
    ['a']
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_src = _rank_of_root(group, src, group_src)
    if _rank_not_in_group(group):
        return _warn_not_in_group("scatter_object_list")
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    device, contents, sizes = _get_object_coll_device(group), None, None
    longest = mindtorch.zeros(1, dtype=mindtorch.long, device=device)
    if group.rank() == group_src:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        pairs = [_object_to_tensor(obj, device, group) for obj in scatter_object_input_list]
        sizes = [size for _, size in pairs]
        longest = mindtorch.stack(sizes).max().reshape(1)
        contents = [_padded(content, int(longest)) for content, _ in pairs]
    broadcast(longest, group_src=group_src, group=group)
    output = mindtorch.empty(int(longest), dtype=mindtorch.uint8, device=device)
    scatter(output, scatter_list=contents, group_src=group_src, group=group)
    size = mindtorch.zeros(1, dtype=mindtorch.long, device=device)
    scatter(size, scatter_list=sizes, group_src=group_src, group=group)
    scatter_object_output_list[0] = _tensor_to_object(output, int(size), group)
    return None
