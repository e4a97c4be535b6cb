"""`grad`, `grad_and_value`, `vjp`, `jvp`, `linearize`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.backward import grad as gradients
from mindtorch_autograd.function import pushing_forward
from mindtorch_autograd.mode import enable_grad
from mindtorch_dispatch.batching import transforming, without_history
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase

from ..utils._pytree import tree_flatten, tree_map, tree_unflatten, treespec_pprint
from ._levels import (
    CAPTURED,
    WRITTEN_LEAF,
    Level,
    checked_argnums,
    chosen,
    differentiable_only,
    fresh_leaf,
    only_tensors,
    replaced,
    reversing,
    split_aux,
    tensor_outputs,
    writable,
)

_EXPECTED = "expected f(*primals) to return only tensors"
_JVP = "jvp(f, primals, tangents)"


def _products(
    outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], zeros: Sequence[Any], again: bool = True
) -> list[Any]:
    """Return vector-Jacobian products, differentiable `again`; zeros like `zeros` where nothing flows."""
    pairs = [(one, cotangent) for one, cotangent in zip(outputs, cotangents, strict=True) if one.requires_grad]
    if not pairs:
        return [aten.zeros_like(one) for one in zeros]
    found = gradients(
        [one for one, _ in pairs], list(inputs), [cotangent for _, cotangent in pairs],
        retain_graph=True, create_graph=again, allow_unused=True,
    )  # fmt: skip
    return [aten.zeros_like(one) if product is None else product for product, one in zip(found, zeros, strict=True)]


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that gives (gradient of `func`, value of `func`), with aux as (gradient, (value, aux)).

    `func` must return a scalar tensor, first of a pair when `has_aux`. The gradient is by the arguments `argnums`.

    >>> torch.func.grad_and_value(lambda x: x ** 3)(torch.tensor(2.))
    (tensor(12.), tensor(8.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checked_argnums(argnums, len(args))
        level = Level(chosen(args, argnums))
        with reversing():
            result = func(*replaced(args, argnums, level.stand_ins), **kwargs)
        level.check_written(WRITTEN_LEAF)
        with enable_grad():
            output, aux = split_aux(result, has_aux, "grad_and_value(f)(*args)")
            if not isinstance(output, TensorBase):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            ones = aten.ones_like(without_history(output))
            products = _products([output], level.flat, [ones], level.flat, level.is_seen_outside([output]))
        found = level.closed(tree_unflatten(products, level.spec))
        value = level.closed(output)
        return (found, (value, level.closed(aux))) if has_aux else (found, value)

    return wrapper


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that gives the gradient of `func`, with aux as (gradient, aux); see `grad_and_value`.

    >>> torch.func.grad(lambda x: x ** 3)(torch.tensor(2.))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return (output of `func`, function from cotangents to a tuple of vector-Jacobian products), then aux if any.

    >>> torch.func.vjp(lambda x: x ** 2, torch.tensor(3.))[1](torch.tensor(1.))
    (tensor(6.),)
    """
    level = Level(primals)
    with reversing():
        result = func(*level.stand_ins)
    level.check_written(WRITTEN_LEAF)
    output, aux = split_aux(result, has_aux, "vjp(f, *primals)")
    flat, spec = tensor_outputs(output, "vjp(f, *primals)", _EXPECTED)
    differentiable_only(flat)

    def pull_back(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        """Return the products of `cotangents` (structured as the output) with the Jacobian."""
        given, given_spec = tree_flatten(cotangents)
        if given_spec != spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {treespec_pprint(given_spec)}, primal output: {treespec_pprint(spec)}"
            )
        kept = state.mode.grad if create_graph is None else create_graph
        with enable_grad():
            products = _products(flat, level.flat, given, level.flat)
        if not kept:
            products = [without_history(one) for one in products]
        return level.closed(tree_unflatten(products, level.spec))

    value = level.closed(output)
    return (value, pull_back, level.closed(aux)) if has_aux else (value, pull_back)


def _checked_primals(primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(primals)
    given, given_spec = tree_flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple "
            f"of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure "
            f"{given_spec}"
        )
    if not flat:
        raise RuntimeError(f"{_JVP}: Expected primals to contain at least one Tensor.")
    for what, values in (("primals", flat), ("tangents", given)):
        only_tensors(values, f"{_JVP}: Expected {what} to only contain Tensors, got {{}}")
    for primal, tangent in zip(flat, given, strict=True):
        if not (primal.dtype.is_floating_point or primal.dtype.is_complex):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {primal.dtype}")
        if tuple(primal.shape) != tuple(tangent.shape):
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
                f"{list(tangent.shape)}."
            )
    return flat, given


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return (output of `func`, product of its Jacobian with `tangents`), then aux if any.

    Computed by reverse mode twice: the vector-Jacobian product is linear in a dummy cotangent. So `func` must be twice
    differentiable in reverse mode; functions marked `once_differentiable` raise.

    >>> torch.func.jvp(lambda x: x ** 2, (torch.tensor(3.),), (torch.tensor(1.),))
    (tensor(9.), tensor(6.))
    """
    _, given = _checked_primals(primals, tangents)
    level = Level(primals)
    with enable_grad():
        with transforming(), pushing_forward(level.flat):
            result = func(*tree_map(writable, level.stand_ins))
        level.check_written(CAPTURED)
        output, aux = split_aux(result, has_aux, _JVP)
        flat, spec = tensor_outputs(output, _JVP, _EXPECTED)
        products = pushed_forward(flat, level, given, strict)
    value = level.closed(output), level.closed(tree_unflatten(products, spec))
    return (*value, level.closed(aux)) if has_aux else value


def pushed_forward(outputs: Sequence[Any], level: Level, tangents: Sequence[Any], strict: bool = False) -> list[Any]:
    """Return the Jacobian-vector products of outputs recorded from the level's stand-ins."""
    tracked = [one for one in outputs if one.requires_grad]
    if strict and len(tracked) < len(outputs):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with "
            "strict=True."
        )
    cotangents = [fresh_leaf(aten.zeros_like(without_history(one))) for one in tracked]
    back = _products(tracked, level.flat, cotangents, level.flat)
    again = level.is_seen_outside([*tracked, *tangents]) or any(one.requires_grad for one in tangents)
    found = iter(_products(back, cotangents, tangents, cotangents, again) if tracked else ())
    return [next(found) if one.requires_grad else aten.zeros_like(one) for one in outputs]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return (output of `func`, its Jacobian-vector product at `primals` as a function of the tangents).

    >>> value, tangent = torch.func.linearize(lambda x: x ** 2, torch.tensor(3.0))
    >>> value, tangent(torch.tensor(1.0))
    (tensor(9.), tensor(6.))
    """
    level = Level(primals)
    with enable_grad(), pushing_forward(level.flat):
        output = func(*level.stand_ins)
    level.check_written(WRITTEN_LEAF)
    flat, spec = tree_flatten(output)
    only_tensors(flat, f"linearize(f, *primals): {_EXPECTED}, got unsupported type {{}}")

    def push_forward(*tangents: Any) -> Any:
        """Return the product of the Jacobian with `tangents`."""
        given, given_spec = tree_flatten(tangents)
        if given_spec != level.spec:
            raise RuntimeError(
                "Expected the tangents to have the same pytree structure as the primals. "
                f"tangents: {given_spec}, primals: {level.spec}"
            )
        for number, (one, primal) in enumerate(zip(given, level.flat, strict=True)):
            if tuple(one.shape) != tuple(primal.shape):
                raise RuntimeError(
                    f"tangent:{number} with shape {one.shape} in flattened pytree doesn't match the shape {primal.shape} of "
                    "the corresponding primal."
                )
        with enable_grad():
            products = pushed_forward(flat, level, given)
        return level.closed(tree_unflatten(products, spec))

    return level.closed(tree_map(lambda one: one, output)), push_forward
