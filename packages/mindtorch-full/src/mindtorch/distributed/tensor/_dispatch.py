"""What happens when an op meets tensors that are spread: arrange, compute on the parts, wrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch.distributed.tensor import _contraction_rules as _contraction_rules
from mindtorch.distributed.tensor import _extremes, _view_rules, _wholes
from mindtorch.distributed.tensor import _index_rules as _index_rules
from mindtorch.distributed.tensor import _layer_rules as _layer_rules
from mindtorch.distributed.tensor import _reduction_rules as _reduction_rules
from mindtorch.distributed.tensor._layout import Layout, local_shape_and_offset, redistribute_local
from mindtorch.distributed.tensor._rules import REGISTERED, RULES, Call, pointwise, replicate_all
from mindtorch.distributed.tensor.placement_types import Partial, Replicate, Shard, _StridedShard
from mindtorch.utils import _pytree

_DRAWN = "normal_ uniform_ bernoulli bernoulli_ random_ exponential_ geometric_ log_normal_ cauchy_ native_dropout"
_DRAWN_LIKE = "rand_like randn_like randint_like"
_ELEMENTWISE = frozenset(("copy_", "fill_", "zero_", "where", *_DRAWN.split(), *_DRAWN_LIKE.split()))
"""Elementwise ops without the tag. Random numbers are drawn by each process for its part, as by torch on the processor."""
_SAMPLES = {"native_group_norm": 3, "native_group_norm_backward": 5}
"""Ops that are told how many samples there are, and at which place among the arguments."""
_UNORDERED = frozenset("sum mean prod amax amin any all linalg_vector_norm".split())
"""Reductions to which the order of elements means nothing."""
_Asking = Callable[[list[Any]], tuple[list[Any], Any]]
OVERRIDES: dict[str, Callable[..., Any]] = {}
"""Ops that something else than their rules carries out for now, by name."""


def _op_name(func: Any) -> str:
    return str(func).split(".")[1]


def _rule_of(func: Any, name: str) -> Any:
    found = REGISTERED.get(func) or RULES.get(name)
    if found is not None:
        return found
    return pointwise if torch.Tag.pointwise in func.tags or name in _ELEMENTWISE else replicate_all


def _leaves(cls: Any, func: Any, args: Any, kwargs: Any) -> tuple[list[Any], list[Any], Any]:
    """Return all leaves of the arguments, the spread tensors among them, and the arguments' structure."""
    leaves, spec = _pytree.tree_flatten((args, kwargs))
    spread = [leaf for leaf in leaves if isinstance(leaf, cls)]
    mesh = spread[0]._dtensor_spec.mesh
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor) and not isinstance(leaf, cls):
            if leaf.ndim and not cls._implicit_replication:
                raise RuntimeError(
                    f"{func} got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before "
                    "calling distributed operators!"
                )
            leaves[index] = cls._wrap(leaf, mesh, (Replicate(),) * mesh.ndim)
    spread = [leaf for leaf in leaves if isinstance(leaf, cls)]
    if any(leaf._dtensor_spec.mesh != mesh for leaf in spread):
        raise RuntimeError(f"{func}: DTensors of different meshes cannot be combined")
    return leaves, spread, spec


def _plan(func: Any, name: str, args: Any, kwargs: Any, spread: list[Any], mesh: Any) -> tuple[list[Any], list[Any]]:
    """Ask the op's rule once for every dimension of the mesh."""
    found = _rule_of(func, name)
    shapes = [tuple(tensor.shape) for tensor in spread]
    targets: list[list[Any]] = [[] for _ in spread]
    outs = []
    for mesh_dim in range(mesh.ndim):
        placements = [tensor._dtensor_spec.placements[mesh_dim] for tensor in spread]

        def ask(given: list[Any], ways: int = mesh.size(mesh_dim)) -> tuple[list[Any], Any]:
            answer: tuple[list[Any], Any] = found(Call(name, args, kwargs, shapes, given, ways, str(func)))
            return answer

        if any(isinstance(placement, _StridedShard) for placement in placements):
            elementwise = found in (pointwise, RULES["detach"], RULES["zeros_like"])
            needs, out = _with_strided(ask, placements, name, elementwise)
        else:
            needs, out = ask(placements)
        for chosen, need in zip(targets, needs, strict=True):
            chosen.append(need)
        outs.append(out)
    return targets, outs


def _with_strided(ask: _Asking, placements: list[Any], name: str, elementwise: bool) -> tuple[list[Any], Any]:
    """Ask a rule about strided shards: as about shards where the order of elements means nothing, else about wholes.

    Rules know how shards of one dimension become those of another, which is not true of every n-th part of it.
    """
    (strided, *others) = {placement for placement in placements if isinstance(placement, _StridedShard)}
    if not others and (elementwise or name in _UNORDERED):
        shard = Shard(strided.dim)
        needs, out = ask([shard if placement == strided else placement for placement in placements])
        outs = out if isinstance(out, list) else [out]
        kept = all((need == shard) == (now == strided) for need, now in zip(needs, placements, strict=True))
        cut = [one for one in (*needs, *outs) if isinstance(one, Shard)]
        if kept and all(one == shard for one in cut) and (elementwise or shard not in outs):
            needs, outs = ([strided if one == shard else one for one in many] for many in (needs, outs))
            return needs, outs if isinstance(out, list) else outs[0]
    return ask([Replicate() if isinstance(placement, _StridedShard) else placement for placement in placements])


def dispatch(cls: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an op."""
    name = _op_name(func)
    if name.startswith("_foreach_"):
        return _foreach(cls, func, name, args, kwargs)
    if name in OVERRIDES:
        return OVERRIDES[name](cls, *args, **kwargs)
    if name == "_local_scalar_dense":  # of this process's part: a process may ask for it alone
        return args[0]._local_tensor.item()
    if name == "equal":
        return _extremes.equal(cls, *args)
    if name in ("argmax", "argmin") and _extremes.cut_along(args[0], *args[1:2], **kwargs):
        return _extremes.place(cls, name, *args, **kwargs)
    leaves, spread, spec = _leaves(cls, func, args, kwargs)
    mesh = spread[0]._dtensor_spec.mesh
    args, kwargs = _pytree.tree_unflatten(leaves, spec)
    if func._schema.is_mutable and not name.endswith("_"):
        return _into_given(cls, func, name, args, kwargs)
    known = _wholes.check(cls, func, name, args, kwargs, spread)
    try:
        targets, outs = _plan(func, name, args, kwargs, spread, mesh)
    except RuntimeError as error:
        _wholes.refuse(cls, func, args, kwargs, str(error))
    parts = iter(
        redistribute_local(tensor._local_tensor, tensor._dtensor_spec, target)
        for tensor, target in zip(spread, targets, strict=True)
    )
    locals_ = [next(parts) if isinstance(leaf, cls) else leaf for leaf in leaves]
    local_args, local_kwargs = _pytree.tree_unflatten(locals_, spec)
    if func._schema.is_mutable:
        return _in_place(func, args[0], targets[0], local_args, local_kwargs)
    try:
        result = _computed(func, name, args, targets, outs, local_args, local_kwargs)
    except (IndexError, RuntimeError):
        _wholes.check(cls, func, name, args, kwargs, None)
        raise
    return _wrap_result(cls, func, args, kwargs, mesh, outs, result, known)


def _computed(
    func: Any, name: str, args: Any, targets: list[list[Any]], outs: list[Any], local_args: Any, local_kwargs: Any
) -> Any:
    """Compute on the parts, with arguments that mean the parts where they mean wholes."""
    if name in _view_rules.SIZED:
        whole = _view_rules.resolve_shape(name, tuple(args[0].shape), local_args[1])
        local, _ = local_shape_and_offset(whole, args[0]._dtensor_spec.mesh, outs)
        local_args = (local_args[0], local, *local_args[2:])
    elif name in _SAMPLES:
        local_args = list(local_args)
        local_args[_SAMPLES[name]] = local_args[0].shape[0]
    elif name == "embedding" and any(target[0] == Shard(0) for target in zip(*targets, strict=True)):
        local_args = _rows_of_this_process(args[0], targets[0], local_args)
        found = func(*local_args[:2], *local_args[3:], **local_kwargs)
        return found.masked_fill(local_args[2].unsqueeze(-1), 0)
    return func(*local_args, **local_kwargs)


def _rows_of_this_process(weight: Any, placements: Any, local_args: Any) -> Any:
    """Look up only the rows that are here; return the indices, and where they point elsewhere."""
    size, offset = local_shape_and_offset(weight.shape, weight._dtensor_spec.mesh, placements)
    indices = local_args[1] - offset[0]
    elsewhere = (indices < 0) | (indices >= size[0])
    return (local_args[0], indices.masked_fill(elsewhere, 0), elsewhere, *local_args[2:])


def _into_given(cls: Any, func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Compute a result, and put it where the caller wants it, in the arrangement that this has."""
    given = kwargs.get("out")
    others = {key: value for key, value in kwargs.items() if key != "out"}
    if not isinstance(given, cls):
        raise NotImplementedError(
            f"{func} on DTensors: several results, or local ones, given by the caller are not offered"
        )
    result = getattr(torch.ops.aten, name)(*args, **others)
    if result.shape != given.shape or result.dtype != given.dtype:
        raise NotImplementedError(
            f"{func} on DTensors: a result of another shape or dtype than the given is not offered"
        )
    layout = given._dtensor_spec
    given._local_tensor.copy_(redistribute_local(result._local_tensor, result._dtensor_spec, layout.placements))
    return given


def _in_place(func: Any, owner: Any, target: Any, local_args: Any, local_kwargs: Any) -> Any:
    """Change the part of the first argument, or put the changed whole back into it."""
    if tuple(target) == tuple(owner._dtensor_spec.placements):
        func(*local_args, **local_kwargs)
        return owner
    whole = local_args[0].clone() if local_args[0] is owner._local_tensor else local_args[0]
    func(whole, *local_args[1:], **local_kwargs)
    layout = owner._dtensor_spec
    replicated = Layout(layout.mesh, tuple(target), layout.shape, layout.stride, layout.dtype)
    owner._local_tensor.copy_(redistribute_local(whole, replicated, layout.placements))
    return owner


def _wrap_result(
    cls: Any, func: Any, args: Any, kwargs: Any, mesh: Any, outs: list[Any], result: Any, known: Any
) -> Any:
    flat, spec = _pytree.tree_flatten(result)
    if not any(isinstance(value, torch.Tensor) for value in flat):
        return result
    lists = [out if isinstance(out, list) else [out] * len(flat) for out in outs]
    placements = [tuple(one) for one in zip(*lists, strict=True)]
    whole = all(isinstance(p, (Replicate, Partial)) for out in placements for p in out)
    if known is None and not whole:
        known = _wholes.geometry(cls, func, args, kwargs)
    metas = flat if whole else _pytree.tree_leaves(known)
    wrapped = [
        cls._wrap(value, mesh, out, tuple(meta.shape), tuple(meta.stride()))
        if isinstance(value, torch.Tensor)
        else value
        for value, out, meta in zip(flat, placements, metas, strict=True)
    ]
    return _pytree.tree_unflatten(wrapped, spec)


def _foreach(cls: Any, func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Run an op over lists: on all parts at once where lists are placed alike, else one by one."""
    lists = [arg for arg in args if isinstance(arg, (list, tuple)) and arg and isinstance(arg[0], torch.Tensor)]
    alike = all(
        all(isinstance(tensor, cls) for tensor in row)
        and len({(tensor._dtensor_spec.mesh, tensor._dtensor_spec.placements) for tensor in row}) == 1
        and not any(isinstance(placement, Partial) for placement in row[0]._dtensor_spec.placements)
        and all(tensor.shape == row[0].shape for tensor in row)
        for row in zip(*lists, strict=False)
    )
    if alike and not name.startswith(("_foreach_norm", "_foreach_max")) and not _has_tensors(args, lists, kwargs):
        local = [[t._local_tensor for t in arg] if any(arg is one for one in lists) else arg for arg in args]
        results = func(*local, **kwargs)
        if results is None or name.endswith("_"):
            return results
        specs = [tensor._dtensor_spec for tensor in lists[0]]
        return [
            cls._wrap(part, spec.mesh, spec.placements, spec.shape, spec.stride)
            for part, spec in zip(results, specs, strict=True)
        ]
    single = getattr(torch.Tensor if name.endswith("_") else torch, name.removeprefix("_foreach_"))
    count = len(args[0])
    rows = [[arg[i] if isinstance(arg, (list, tuple)) else arg for arg in args] for i in range(count)]
    return [single(*row, **kwargs) for row in rows]


def _has_tensors(args: Any, lists: list[Any], kwargs: Any) -> bool:
    """Return whether there are tensors beside the lists."""
    others = [arg for arg in args if not any(arg is one for one in lists)]
    return any(isinstance(leaf, torch.Tensor) for leaf in _pytree.tree_leaves((others, kwargs)))
