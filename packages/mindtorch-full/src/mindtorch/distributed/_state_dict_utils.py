"""Going through states of models: bringing parts together, to the host, into tensors that lie ready."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Mapping, MutableMapping
from typing import TypeAlias

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed._shard.sharded_tensor import ShardedTensor
from mindtorch.distributed.checkpoint._nested_dict import unflatten_state_dict
from mindtorch.distributed.tensor import DTensor, Replicate, distribute_tensor
from mindtorch.tensor.tensor import Tensor

State: TypeAlias = Mapping[str, object]
_Path: TypeAlias = tuple[str | int, ...]
_Of: TypeAlias = Callable[[Tensor], Tensor]
_Container: TypeAlias = dict[str, object] | list[object] | tuple[object, ...]
_PLAIN = (int, float, str, bytes, io.BytesIO, torch.dtype)


class CompanionMismatch(Exception):
    """A state and the one that lies ready for it are not alike."""


class _Walk:
    """One way through a state: what is done with tensors, and the state that takes their values."""

    def __init__(self, whole: _Of, cpu_offload: bool, kept: bool, type_check: bool, non_blocking: bool) -> None:
        self.whole, self.cpu_offload, self.kept, self.type_check = whole, cpu_offload, kept, type_check
        self.non_blocking = non_blocking

    def value(self, given: object, companion: object = None) -> object:
        """Return a state's value after the walk, in `companion` where there is one."""
        if isinstance(given, Tensor):
            return self._tensor(given, companion)
        if given is None or isinstance(given, _PLAIN):
            return given if companion is None else copy.deepcopy(given)
        if isinstance(given, dict):
            self._check(companion, dict, given)
            made = {key: self.value(inner, companion[key] if companion is not None else None)  # type: ignore[index]
                    for key, inner in given.items()}  # fmt: skip
            return _filled(companion, made)
        if isinstance(given, (list, tuple)):
            self._check(companion, (list, tuple), given)
            others = companion if companion is not None else [None] * len(given)
            listed = [self.value(*pair) for pair in zip(given, others, strict=True)]  # type: ignore[call-overload]
            return tuple(listed) if isinstance(given, tuple) else listed
        if self.type_check:
            raise ValueError(f"Unexpected value type {type(given)}")
        return given if companion is None else copy.deepcopy(given)

    @staticmethod
    def _check(companion: object, kind: type | tuple[type, ...], given: _Container) -> None:
        """CompanionMismatch where what lies ready is of another kind, length or of other keys."""
        if companion is None:
            return
        if not isinstance(companion, kind) or len(companion) != len(given):  # type: ignore[arg-type]
            raise CompanionMismatch
        if isinstance(given, dict) and set(companion) != set(given):  # type: ignore[call-overload]
            raise CompanionMismatch

    def _tensor(self, given: Tensor, companion: object) -> object:
        found = self.whole(given)
        if not self.kept:
            return {}
        if companion is not None:
            with torch.no_grad():
                return companion.copy_(found, non_blocking=self.non_blocking)  # type: ignore[attr-defined] # as torch
        return found.to("cpu") if self.cpu_offload and not isinstance(found, ShardedTensor) else found


def _filled(companion: object, made: dict[str, object]) -> dict[str, object]:
    if isinstance(companion, MutableMapping):
        companion.update(made)
        return companion  # type: ignore[return-value]
    return made


def _walked(
    state: State, whole: _Of, *, cpu_offload: bool = False, ranks_only: tuple[int, ...] = (), type_check: bool = True,
    companion: State | None = None, non_blocking: bool = False,
) -> dict[str, object]:  # fmt: skip
    """Return the state after a walk: an empty one with processes that are not in `ranks_only`."""
    kept = not ranks_only or dist.get_rank() in ranks_only
    made = _Walk(whole, cpu_offload, kept, type_check, non_blocking).value(state, companion)
    return made if kept else {}  # type: ignore[return-value]


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _all_gather_sharded_tensor(
    sharded_tensor: ShardedTensor, pg: dist.ProcessGroup | None = None, device: torch.device | None = None
) -> Tensor:
    """Return the whole of a tensor in parts, with every process."""
    told: list[list[tuple[list[int], Tensor]]] = [[] for _ in range(dist.get_world_size(pg))]
    parts = [(shard.metadata.shard_offsets, shard.tensor.detach()) for shard in sharded_tensor.local_shards()]
    dist.all_gather_object(told, parts, group=pg)
    known = sharded_tensor.metadata()
    whole = torch.empty(known.size, dtype=known.tensor_properties.dtype, device=device or torch.device("cpu"))
    for offsets, part in (one for rank in told for one in rank):
        box = tuple(slice(start, start + size) for start, size in zip(offsets, part.shape, strict=True))
        whole[box] = part.to(whole.device)
    return whole


def _gather_state_dict(
    state_dict: dict[str, object],
    *,
    pg: dist.ProcessGroup | None = None,
    device: torch.device | None = None,
    cpu_offload: bool = False,
    ranks_only: tuple[int, ...] = (),
    type_check: bool = True,
) -> dict[str, object]:
    """Return the state with whole tensors: a collective, in which every process takes part."""

    def whole(tensor: Tensor) -> Tensor:
        if isinstance(tensor, ShardedTensor):
            return _all_gather_sharded_tensor(tensor, pg, device)
        if not isinstance(tensor, DTensor):
            return tensor
        full: Tensor = tensor.redistribute(placements=[Replicate()] * tensor.device_mesh.ndim).to_local()
        return full

    return _walked(state_dict, whole, cpu_offload=cpu_offload, ranks_only=ranks_only, type_check=type_check)


def _offload_state_dict_to_cpu(
    state_dict: dict[str, object], *, ranks_only: tuple[int, ...] = (), type_check: bool = True
) -> dict[str, object]:
    """Return the state with its tensors in the host's memory."""
    return _walked(state_dict, _same, cpu_offload=True, ranks_only=ranks_only, type_check=type_check)


def _copy_state_dict(
    state_dict: dict[str, object],
    copy_state_dict: dict[str, object],
    non_blocking: bool = False,
    type_check: bool = True,
) -> dict[str, object]:
    """Return `copy_state_dict`, whose tensors take the values of `state_dict`'s. CompanionMismatch: they are not alike."""
    return _walked(state_dict, _same, type_check=type_check, companion=copy_state_dict, non_blocking=non_blocking)


def _create_cpu_state_dict(
    state_dict: dict[str, object], pin_memory: bool = False, share_memory: bool = False
) -> dict[str, object]:
    """Return a state with tensors of the host that have no values yet, in memory that other processes may share."""

    def ready(tensor: Tensor) -> Tensor:
        if isinstance(tensor, DTensor):
            spec, local = tensor._dtensor_spec, ready(tensor._local_tensor)
            return DTensor(local, spec, requires_grad=tensor.requires_grad)
        made = torch.empty(tuple(tensor.size()), dtype=tensor.dtype)
        if share_memory:
            made.share_memory_()
        elif pin_memory and torch.accelerator.is_available():
            made = made.pin_memory()
        return made

    return _walked(state_dict, ready, type_check=False)


def _check_state_dict_similarity(state_dict: dict[str, object], compared_state_dict: dict[str, object]) -> bool:
    """Return whether two states have the same keys, and tensors of the same shapes and dtypes."""

    def alike(given: object, other: object) -> bool:
        if isinstance(given, dict):
            return (
                isinstance(other, dict)
                and set(given) == set(other)
                and all(alike(v, other[k]) for k, v in given.items())
            )
        if isinstance(given, (list, tuple)):
            same_length = isinstance(other, (list, tuple)) and len(given) == len(other)
            return same_length and all(alike(*pair) for pair in zip(given, other, strict=True))  # type: ignore[call-overload]
        if isinstance(given, Tensor):
            return isinstance(other, Tensor) and given.shape == other.shape and given.dtype == other.dtype
        return True

    return alike(state_dict, compared_state_dict)


def _at_root(pg: dist.ProcessGroup | None) -> bool:
    return dist.get_rank(pg) == 0


def _broadcast_tensors(
    full_state_dict: dict[str, object],
    local_state_dict: dict[str, object],
    keys: list[str],
    device: torch.device,
    pg: dist.ProcessGroup | None = None,
) -> None:
    """Give every process the first one's whole tensors of these names: in parts, where its own are."""
    for key in keys:
        whole = full_state_dict[key].detach().to(device) if _at_root(pg) else None  # type: ignore[attr-defined]
        local = local_state_dict[key]
        if whole is None:
            whole = torch.empty(tuple(local.size()), dtype=local.dtype, device=device)  # type: ignore[attr-defined]
        whole = whole.contiguous()
        dist.broadcast(whole, group=pg, group_src=0)
        local_state_dict[key] = (local, whole)
    _distribute_tensors(local_state_dict, keys, device, pg)


def _distribute_tensors(
    local_state_dict: dict[str, object], keys: list[str], device: torch.device, pg: dist.ProcessGroup | None = None
) -> None:
    """Put the second of each pair, a whole tensor, into the first, which may be in parts; the first stays."""
    with torch.no_grad():
        for key in keys:
            pair = local_state_dict[key]
            if not isinstance(pair, (list, tuple)):
                continue
            local, whole = pair
            if isinstance(local, DTensor):
                whole = distribute_tensor(whole.detach(), local.device_mesh, local.placements, src_data_rank=None)
                local.to_local().copy_(whole.to_local())
            elif isinstance(local, Tensor) and local.device.type != "meta":
                local.copy_(whole)
            else:
                local = whole
            local_state_dict[key] = local


def _broadcast_state_dict(
    full_state_dict: dict[str, object],
    local_state_dict: dict[str, object],
    device: torch.device,
    pg: dist.ProcessGroup | None = None,
    strict: bool = False,
    cpu_offload: bool = False,
) -> None:
    """Give every process the first one's whole state, in its own arrangement; `strict` drops what that one lacks."""
    described: dict[str, object] = {}
    if _at_root(pg):
        for key, value in full_state_dict.items():
            tensor = isinstance(value, Tensor) and value.dim() > 0
            described[key] = (tuple(value.size()), value.dtype) if tensor else _on_host(value)  # type: ignore[attr-defined]
    box = [described]
    dist.broadcast_object_list(box, src=dist.get_global_rank(pg or dist.group.WORLD, 0), group=pg)
    for key, known in box[0].items():
        if not (isinstance(known, tuple) and len(known) == 2 and isinstance(known[1], torch.dtype)):
            local_state_dict[key] = known
            continue
        if key not in local_state_dict:
            if strict:
                continue
            local_state_dict[key] = torch.empty(known[0], dtype=known[1], device="meta")
        _broadcast_tensors(full_state_dict, local_state_dict, [key], device, pg)
        if cpu_offload:
            local_state_dict[key] = local_state_dict[key].cpu()  # type: ignore[attr-defined]
    if strict:
        for key in set(local_state_dict) - set(box[0]):
            del local_state_dict[key]


def _on_host(value: object) -> object:
    return value.cpu() if isinstance(value, Tensor) else value


def _distribute_state_dict(
    full_state_dict: dict[str, object],
    local_state_dict: dict[str, object],
    device: torch.device,
    pg: dist.ProcessGroup | None = None,
) -> None:
    """Put a whole state, which every process has, into a state in parts."""
    for key, value in full_state_dict.items():
        local = local_state_dict.get(key)
        if isinstance(value, Tensor) and value.dim() and isinstance(local, Tensor):
            local_state_dict[key] = (local, value.detach().to(device))
            _distribute_tensors(local_state_dict, [key], device, pg)
        else:
            local_state_dict[key] = _on_host(value)


def _flatten_state_dict(state_dict: dict[str, object]) -> tuple[dict[str, object], dict[str, _Path]]:
    """Return one level, with names such as `a.0.b`, and the path of each."""
    flat: dict[str, object] = {}
    paths: dict[str, _Path] = {}

    def put(path: _Path, value: object) -> None:
        name = ".".join(map(str, path))
        flat[name], paths[name] = value, path

    _traverse_state_dict(state_dict, put)
    return flat, paths


def _traverse_state_dict(state_dict: dict[str, object], visitor: Callable[[_Path, object], None]) -> None:
    """Call a function with every value that is no dict, list or tuple, and the keys that lead to it."""

    def walk(path: _Path, value: object) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                walk((*path, str(key)), inner)
        elif isinstance(value, (list, tuple)):
            for index, inner in enumerate(value):
                walk((*path, index), inner)
        else:
            visitor(path, value)

    for key, value in state_dict.items():
        walk((str(key),), value)


def _unflatten_state_dict(state_dict: dict[str, object], mapping: dict[str, _Path]) -> dict[str, object]:
    """Return the levels of a state that `_flatten_state_dict` took."""
    made: dict[str, object] = unflatten_state_dict(state_dict, mapping)
    return made


adopt(globals())
