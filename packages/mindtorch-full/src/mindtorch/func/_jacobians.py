"""`jacrev`, `jacfwd`, `hessian`: Jacobians by rows, by columns, and of gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.mode import enable_grad
from mindtorch_dispatch.batching import depth
from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

from ..utils._pytree import tree_flatten, tree_map, tree_unflatten
from ._levels import (
    WRITTEN_LEAF,
    Level,
    checked_argnums,
    chosen,
    differentiable_only,
    real_only,
    replaced,
    reversing,
    split_aux,
    tensor_outputs,
)
from ._transforms import _products, jvp
from ._vmap import taken_out, vmap


def _basis(like: Any) -> Any:
    """Return the unit tensors of a tensor's space, stacked."""
    count = like.numel()
    return aten.reshape(aten.eye(count, dtype=like.dtype, device=like.device), [count, *like.shape])


def _by_one(pull: Callable[[Any], tuple[Any, ...]], basis: Any) -> list[Any]:
    """Return the stacked products of unit tensors that are taken one at a time, without a batch."""
    rows = [pull(unit) for unit in aten.unbind(basis)]
    return [aten.stack(list(blocks)) for blocks in zip(*rows, strict=True)]


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func` by its arguments `argnums`: one backward for the unit tensors of
    each output, `chunk_size` of them at a time.

    >>> torch.func.jacrev(lambda x: x ** 2)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checked_argnums(argnums, len(args))
        level = Level(chosen(args, argnums))
        real_only(level.flat, "jacrev", "inputs")
        with reversing():
            result = func(*replaced(args, argnums, level.stand_ins), **kwargs)
        level.check_written(WRITTEN_LEAF)
        with enable_grad():
            output, aux = split_aux(result, has_aux, "vjp(f, *primals)")
            flat, spec = tensor_outputs(output, "vjp(f, *primals)", "expected f(*primals) to return only tensors")
            differentiable_only(flat)
            real_only(flat, "jacrev", "outputs")
            blocks = []
            for one in flat:
                again = level.is_seen_outside([one])

                def pull(unit: Any, one: Any = one, again: bool = again) -> Any:
                    return tuple(_products([one], level.flat, [unit], level.flat, again))

                rows = _by_one(pull, _basis(one)) if chunk_size == 1 else vmap(pull, chunk_size=chunk_size)(_basis(one))
                joined = [
                    aten.reshape(block, [*one.shape, *ref.shape]) for block, ref in zip(rows, level.flat, strict=True)
                ]
                blocks.append(level.closed(tree_unflatten(joined, level.spec)))
        found = tree_unflatten(blocks, spec)
        return (found, level.closed(aux)) if has_aux else found

    return wrapper


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func` by its arguments `argnums`, forward products with the unit
    tensors of the inputs; see `jvp` for how those are computed.

    >>> torch.func.jacfwd(lambda x: x ** 2)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checked_argnums(argnums, len(args))
        primals, structure = tree_flatten(chosen(args, argnums))
        real_only(primals, "jacfwd", "inputs")
        counts = [one.numel() for one in primals]
        kept: dict[str, Any] = {}

        def by_primals(*given: Any) -> Any:
            return func(*replaced(args, argnums, tree_unflatten(list(given), structure)), **kwargs)

        def push(*tangents: Any) -> Any:
            answer = jvp(by_primals, tuple(primals), tangents, has_aux=has_aux)
            flat, kept["spec"] = tree_flatten(answer[1])
            real_only(flat, "jacfwd", "outputs")
            kept["aux"] = tree_map(_shared, answer[2]) if has_aux else None
            return tuple(flat)

        columns = vmap(push, out_dims=-1, randomness=randomness)(*_joint_basis(primals, counts))
        blocks = []
        for column in columns:
            parts = aten.split_with_sizes(column, counts, -1)
            made = [
                aten.reshape(part, [*column.shape[:-1], *one.shape]) for part, one in zip(parts, primals, strict=True)
            ]
            blocks.append(tree_unflatten(made, structure))
        found = tree_unflatten(blocks, kept["spec"])
        return (found, kept["aux"]) if has_aux else found

    return wrapper


def _shared(value: Any) -> Any:
    """Return what `func` hands on besides its output, which is the same for all columns."""
    return taken_out(value, None, depth(), 0, "jacfwd") if isinstance(value, TensorBase) else value


def _joint_basis(primals: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    """Return for each input its part of the unit tensors of all inputs together."""
    total = sum(counts)
    made, start = [], 0
    for one, count in zip(primals, counts, strict=True):
        rows = aten.zeros([total, count], dtype=one.dtype, device=one.device)
        aten.fill_(aten.diagonal(aten.narrow(rows, 0, start, count)), 1)
        made.append(aten.reshape(rows, [total, *one.shape]))
        start += count
    return made


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function that gives the Hessian of `func`: the forward Jacobian of its reverse Jacobian.

    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
