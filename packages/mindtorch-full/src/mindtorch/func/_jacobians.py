"""`jacrev`, `jacfwd`, `hessian`: Jacobians by rows, by columns, and of gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.mode import enable_grad
from mindtorch_dispatch.call import aten

from ..utils._pytree import tree_flatten, tree_unflatten
from ._levels import Level, checked_argnums, chosen, only_tensors, replaced, split_aux
from ._transforms import _products, pushed_forward

_TENSORS_ONLY = "{}: expected f(*primals) to return only tensors, got unsupported type "


def _basis(like: Any) -> list[Any]:
    """Return the unit tensors of a tensor's space, in order."""
    count = like.numel()
    units = aten.zeros([count, count], dtype=like.dtype, device=like.device)
    for index in range(count):
        units[index, index] = 1
    return [units[index].reshape(like.shape) for index in range(count)]


def _joined(rows: Sequence[Any], leading: Any, trailing: Any, like: Any) -> Any:
    shape = [*leading, *trailing]
    return aten.reshape(aten.stack(list(rows)), shape) if rows else aten.zeros(shape, dtype=like.dtype)


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func` by its arguments `argnums`, one backward per output element.

    `chunk_size` changes nothing: rows are computed one at a time.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checked_argnums(argnums, len(args))
        level = Level(chosen(args, argnums))
        with enable_grad():
            result = func(*replaced(args, argnums, level.stand_ins), **kwargs)
            output, aux = split_aux(result, has_aux, "vjp(f, *primals)")
            flat, spec = tree_flatten(output)
            only_tensors(flat, _TENSORS_ONLY.format("vjp(f, *primals)") + "{}")
            blocks = []
            for one in flat:
                rows = [_products([one], level.flat, [unit], level.flat) for unit in _basis(one.detach())]
                columns = zip(*rows, strict=True) if rows else [()] * len(level.flat)
                joined = [
                    _joined(column, one.shape, ref.shape, ref) for column, ref in zip(columns, level.flat, strict=True)
                ]
                blocks.append(level.closed(tree_unflatten(joined, level.spec)))
        found = tree_unflatten(blocks, spec)
        return (found, level.closed(aux)) if has_aux else found

    return wrapper


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func` by its arguments `argnums`, one forward product per input
    element; see `jvp` for how those are computed."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checked_argnums(argnums, len(args))
        level = Level(chosen(args, argnums))
        with enable_grad():
            result = func(*replaced(args, argnums, level.stand_ins), **kwargs)
            output, aux = split_aux(result, has_aux, "jvp(f, primals, tangents)")
            flat, spec = tree_flatten(output)
            only_tensors(flat, _TENSORS_ONLY.format("jvp(f, primals, tangents)") + "{}")
            blocks: list[list[Any]] = [[] for _ in flat]
            for place, ref in enumerate(level.flat):
                columns = []
                for unit in _basis(ref.detach()):
                    tangents = [unit if other == place else aten.zeros_like(one.detach())
                                for other, one in enumerate(level.flat)]  # fmt: skip
                    columns.append(pushed_forward(flat, level, tangents))
                for number, one in enumerate(flat):
                    parts = [column[number] for column in columns]
                    stacked = aten.stack(parts, -1) if parts else aten.zeros([*one.shape, 0], dtype=one.dtype)
                    blocks[number].append(aten.reshape(stacked, [*one.shape, *ref.shape]))
        made = [level.closed(tree_unflatten(block, level.spec)) for block in blocks]
        found = tree_unflatten(made, spec)
        return (found, level.closed(aux)) if has_aux else found

    return wrapper


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function that gives the Hessian of `func`: the forward Jacobian of its reverse Jacobian."""
    return jacfwd(jacrev(func, argnums), argnums)
