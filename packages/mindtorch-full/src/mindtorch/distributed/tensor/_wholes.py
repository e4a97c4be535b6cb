"""What an op gives on whole tensors: its results' geometry, and its refusal, before processes compute on their parts."""

from __future__ import annotations

from typing import Any, NoReturn

import mindtorch as torch
from mindtorch.utils import _pytree

_KNOWN = 4096
_UNKNOWN = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape, torch.Tag.nondeterministic_seeded)
_PRODUCTS = {"mm": (0, 1), "addmm": (1, 2)}
"""Products of two matrices, and where these stand among the arguments."""
_ASKED_BEFORE = frozenset(("_softmax", "_log_softmax"))
"""Ops whose arguments torch looks at before it asks how they are spread."""
_geometries: dict[Any, Any] = {}


def geometry(cls: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Return the results of an op on whole tensors, without data."""
    leaves, spec = _pytree.tree_flatten((args, kwargs))
    key = (
        func,
        tuple(
            (tuple(leaf.shape), leaf.stride(), leaf.dtype) if isinstance(leaf, cls) else (type(leaf), str(leaf))
            for leaf in leaves
        ),
        str(spec),
    )
    known = _geometries.get(key)
    if known is None:
        meta_args, meta_kwargs = _pytree.tree_unflatten([_without_data(leaf) for leaf in leaves], spec)
        if len(_geometries) >= _KNOWN:
            _geometries.clear()
        known = _geometries[key] = func(*meta_args, **meta_kwargs)
    return known


def _without_data(leaf: object) -> object:
    if isinstance(leaf, torch.Tensor):
        return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device="meta")
    return torch.device("meta") if isinstance(leaf, torch.device) else leaf


def check(cls: Any, func: Any, name: str, args: Any, kwargs: Any, spread: list[Any] | None) -> Any:
    """Return the results' geometry where parts could hide what wholes are refused for; None where it is not asked for.

    Parts may fit where wholes do not, on some processes: these would wait for the others in vain. Without `spread`, the
    wholes are looked at in any case.
    """
    if name in _PRODUCTS:
        left, right = (args[place] for place in _PRODUCTS[name])
        if left.ndim == right.ndim == 2 and left.shape[1] != right.shape[0]:
            text = f"a and b must have same reduction dim, but got {list(left.shape)} X {list(right.shape)}."
            refuse(cls, func, args, kwargs, text)
    cut = spread is None or any(one.is_shard() for tensor in spread for one in tensor._dtensor_spec.placements)
    if not cut or name in _ASKED_BEFORE or any(tag in func.tags for tag in _UNKNOWN):
        return None
    try:
        return geometry(cls, func, args, kwargs)
    except NotImplementedError:
        return None  # nothing is known of such wholes: the rule and the parts decide
    except (IndexError, RuntimeError, ValueError) as error:
        refuse(cls, func, args, kwargs, str(error).rstrip())


def refuse(cls: Any, func: Any, args: Any, kwargs: Any, text: str) -> NoReturn:
    """Raise that an op cannot be carried out on tensors that are spread like these."""
    mesh = next(leaf for leaf in _pytree.tree_leaves((args, kwargs)) if isinstance(leaf, cls))._dtensor_spec.mesh
    given = [_told(cls, arg) for arg in args] + [f"{key}: {_told(cls, value)}" for key, value in kwargs.items()]
    raise RuntimeError(f"{text}\n\nSharding propagation failed for {func}({', '.join(given)}) on {mesh})") from None


def _told(cls: Any, value: Any) -> str:
    if isinstance(value, cls):
        return str(value._spec)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(repr(one._spec) if isinstance(one, cls) else str(one) for one in value)}]"
    return str(value)
