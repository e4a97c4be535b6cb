"""`local_map`: a function of plain tensors, applied to the parts of spread ones that this process has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch.distributed.tensor._api import DTensor
from mindtorch.utils import _pytree as pytree

__all__ = ["local_map"]

Placements = Sequence[Any] | None


def local_map(
    func: Callable[..., Any] | None = None,
    out_placements: Any = None,
    in_placements: tuple[Placements, ...] | None = None,
    in_grad_placements: tuple[Placements, ...] | None = None,
    device_mesh: Any = None,
    *,
    redistribute_inputs: bool = False,
) -> Any:
    """Return `func` taking and giving spread tensors; a decorator without `func`.

    `out_placements` tells for each result how it lies, None for one that is no tensor; `in_placements` for each argument
    how it must lie, and `in_grad_placements` how its gradient does. Without a spread argument `func` runs as it is.
    """
    if func is None:
        return partial(
            local_map,
            out_placements=out_placements,
            in_placements=in_placements,
            in_grad_placements=in_grad_placements,
            device_mesh=device_mesh,
            redistribute_inputs=redistribute_inputs,
        )
    return partial(_apply, func, out_placements, in_placements, in_grad_placements, device_mesh, redistribute_inputs)


def _apply(
    func: Callable[..., Any],
    out_placements: Any,
    in_placements: tuple[Placements, ...] | None,
    in_grad_placements: tuple[Placements, ...] | None,
    device_mesh: Any,
    redistribute_inputs: bool,
    *args: Any,
    **kwargs: Any,
) -> Any:
    given, form = pytree.tree_flatten(args)
    if in_placements is not None and len(in_placements) != len(given):
        raise AssertionError(
            f"in_placements length {len(in_placements)} does not match the number of input args {len(given)}!"
        )
    spread = [value for value in given if isinstance(value, DTensor)]
    mesh = spread[0].device_mesh if device_mesh is None and spread else device_mesh
    local = []
    for at, value in enumerate(given):
        if isinstance(value, DTensor):
            if in_placements is not None:
                value = _placed(value, in_placements[at], redistribute_inputs)
            local.append(_part(value, in_grad_placements, at))
            continue
        if in_placements is not None and not isinstance(value, mindtorch.Tensor) and in_placements[at] is not None:
            raise AssertionError(f"Non-Tensor input {value} expects None placements but received {in_placements[at]}!")
        local.append(value)
    result = func(*pytree.tree_unflatten(local, form), **kwargs)
    return _spread(result, out_placements, mesh) if spread else result


def _placed(value: Any, wanted: Placements, redistribute: bool) -> Any:
    """The argument, laid as it must lie."""
    if wanted is None:
        raise AssertionError(f"DTensor input {value} expects placements but received {wanted}!")
    wanted = tuple(wanted)
    if value.placements == wanted:
        return value
    if not redistribute:
        raise ValueError(
            f"arg {value} in local_map has a mismatched placements: arg placements is {value.placements} but the input "
            f"placements is {wanted}! If redistribute_inputs is wanted, set redistribute_inputs=True to local_map."
        )
    return value.redistribute(placements=wanted)


def _part(value: Any, in_grad_placements: tuple[Placements, ...] | None, at: int) -> Any:
    """This process's part of the argument."""
    if in_grad_placements is None:
        return value.to_local()
    wanted = in_grad_placements[at]
    if wanted is None:
        raise AssertionError(f"DTensor input {value} expects in grad placements but received {wanted}!")
    return value.to_local(grad_placements=tuple(wanted))


def _spread(result: Any, out_placements: Any, mesh: Any) -> Any:
    """The results as spread tensors."""
    values, form = pytree.tree_flatten(result)
    placements = out_placements if isinstance(out_placements, tuple) else (out_placements,)
    if len(values) != len(placements):
        raise AssertionError(
            "local_map requires one PlacementType be provided for each output value, received "
            f"{len(placements)} out_placements but {len(values)} is expected!"
        )
    made = []
    for value, placement in zip(values, placements, strict=True):
        if isinstance(value, DTensor):
            raise AssertionError(f"torch.Tensor output expected but received {type(value)}: {value}")
        if isinstance(value, mindtorch.Tensor):
            value = DTensor.from_local(value, mesh, placement, run_check=False)
        elif placement is not None:
            raise AssertionError(f"Non-tensor output {value} expects None placements but received {placement}!")
        made.append(value)
    return pytree.tree_unflatten(made, form)


adopt(globals())
