"""Ops over lists of tensors in one launch, Adam's step too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.extend import devices
from mindtorch_npu.aclnn import limits
from mindtorch_npu.backend.algebra import reshaped
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.libraries import Symbols, symbols
from mindtorch_npu.properties import chip_family

ONE = {
    name: "Foreach" + name.title()
    for name in (
        "abs", "acos", "asin", "atan", "cos", "cosh", "erf", "erfc", "exp", "expm1", "log", "log10", "log1p", "log2",
        "neg", "reciprocal", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
    )
}  # fmt: skip
NUMBER = {
    "add": "ForeachAddScalarV2", "sub": "ForeachSubScalarV2", "mul": "ForeachMulScalarV2", "div": "ForeachDivScalarV2",
    "pow": "ForeachPowScalarV2", "clamp_min": "ForeachMaximumScalarV2", "clamp_max": "ForeachMinimumScalarV2",
    "maximum": "ForeachMaximumScalarV2", "minimum": "ForeachMinimumScalarV2",
}  # fmt: skip
PAIR = {
    "add": "ForeachAddListV2", "sub": "ForeachSubListV2", "mul": "ForeachMulList", "div": "ForeachDivList",
    "pow": "ForeachPowList", "clamp_min": "ForeachMaximumList", "clamp_max": "ForeachMinimumList",
    "maximum": "ForeachMaximumList", "minimum": "ForeachMinimumList",
}  # fmt: skip
ALPHA = frozenset({"add", "sub"})
THREE = {"addcmul": "ForeachAddcmulScalarV2", "addcdiv": "ForeachAddcdivScalarV2"}
FLOATS = frozenset({"float32", "float16", "bfloat16"})


def available(name: str) -> bool:
    """Return whether the vendor's documents say that an operator exists on this chip."""
    return chip_family() not in limits().get(name, {}).get("chips_no", ())


def exists(name: str) -> bool:
    """Return whether the chip has an operator by the vendor's documents, and the installed libraries have it too."""
    key = symbols(), name
    found = _found.get(key)
    if found is None:
        found = _found[key] = available(name) and key[0].address(name) is not None
    return found


_found: dict[tuple[Symbols, str], bool] = {}


def _choose(name: str, lists: Sequence[Any], number: float | None) -> tuple[str, list[Any]] | None:
    """Return the operator and its parameters after the lists, None when there is none."""
    if len(lists) == 1:
        found = ONE.get(name) if number is None else NUMBER.get(name)
        return (found, [] if number is None else [number]) if found else None
    if name == "lerp":
        return "ForeachLerpScalar", [number]
    if len(lists) == 2:
        found = PAIR.get(name)
        if found is None or (name not in ALPHA and number != 1):
            return None
        return found, [number] if name in ALPHA else []
    return (THREE[name], [number]) if name in THREE else None


def over_lists(name: str, outs: Sequence[Any], lists: Sequence[Sequence[Any]], number: Any) -> bool:
    """Fill `outs` in one launch; False where the lists are not of one dtype, geometry and device, or no operator is."""
    arrays = [[tensor._array for tensor in tensors] for tensors in (*lists, outs)]
    first = arrays[0][0]
    if not isinstance(first, DeviceArray) or first.dtype.name not in FLOATS:
        return False
    if name == "norm":
        return _norms(arrays[0], arrays[1], number)
    if name == "mul" and hasattr(number, "_array"):
        return _scaled(arrays[0], arrays[1], number._array)
    if number is not None and not isinstance(number, (int, float)):
        return False
    for row in zip(*arrays, strict=True):
        shape = row[0].shape
        for one in row:
            if not isinstance(one, DeviceArray) or one.shape != shape or one.dtype != first.dtype or not one.size:
                return False
            if one.device != first.device:
                return False
    chosen = _choose(name, lists, number)
    if chosen is None or not available("aclnn" + chosen[0]):
        return False
    operator, rest = chosen
    launch("aclnn" + operator, [*arrays[:-1], *(float(value) for value in rest), arrays[-1]])
    return True


def _alike(arrays: Sequence[Any]) -> bool:
    first = arrays[0]
    return all(
        isinstance(x, DeviceArray) and x.size and x.dtype == first.dtype and x.device == first.device for x in arrays
    )


def _norms(arrays: Sequence[Any], outs: Sequence[Any], order: float | None) -> bool:
    """Write the norm of every array; False for norms that the operator lacks."""
    if order not in (1, 2) or not _alike([*arrays, *outs]) or not available("aclnnForeachNorm"):
        return False
    launch("aclnnForeachNorm", [[row_of(x) for x in arrays], float(order), [row_of(x) for x in outs]])
    return True


def _scaled(arrays: Sequence[Any], outs: Sequence[Any], factor: DeviceArray) -> bool:
    """Write every array times one number of the device; False where that is of another type or place."""
    name = "aclnnForeachMulScalar"
    if not _alike([*arrays, *outs, factor]) or factor.dtype.name == "bfloat16" or not available(name):
        return False
    launch(name, [[row_of(x) for x in arrays], row_of(factor), [row_of(x) for x in outs]])
    return True


def row_of(x: DeviceArray) -> DeviceArray:
    """Return an array of one dimension at least, as the operator wants it."""
    return x if x.ndim else reshaped(x, (1,))


def adam_step(
    params: Sequence[Any],
    grads: Sequence[Any],
    exp_avgs: Sequence[Any],
    exp_avg_sqs: Sequence[Any],
    largest: Sequence[Any] | None,
    counts: Sequence[Any],
    options: dict[str, Any],
) -> None:
    """Make one step of AdamW, in one launch for all parameters where the libraries have that, and count it in another."""
    state = [[row_of(tensor._array) for tensor in tensors] for tensors in (params, exp_avgs, exp_avg_sqs)]
    gradients = [row_of(grad._array) for grad in grads]
    counters = [row_of(count._array) for count in counts]
    beta1, beta2 = options["betas"]
    rates = [options["lr"], beta1, beta2, options["weight_decay"], options["eps"]]
    # The operator over lists takes the largest of corrected squares: torch's amsgrad that of uncorrected ones.
    together = largest is None and _takes_adam([*gradients, *(one for arrays in state for one in arrays)], counters)
    if together:
        _count(counters)
        steps = [state[0], gradients, *state[1:], None, counters, None, None]
        launch("aclnnFusedAdamw", [*steps, *rates, False, bool(options["maximize"])])
    else:
        squares = [None] * len(params) if largest is None else [row_of(tensor._array) for tensor in largest]
        for own, grad, square, count in zip(zip(*state, strict=True), gradients, squares, counters, strict=True):
            grad = grad if grad.dtype == own[0].dtype else grad.astype(own[0].dtype)
            given = [*own, square, grad, count.astype(np.dtype(np.float32), copy=False)]
            launch("aclnnApplyAdamWV2", [*given, *rates, square is not None, bool(options["maximize"])])
        _count(counters)
    for tensors in (params, exp_avgs, exp_avg_sqs, largest or (), counts):
        for tensor in tensors:
            devices.changed(tensor)


def _takes_adam(arrays: Sequence[Any], counters: Sequence[Any]) -> bool:
    """Return whether the operator over lists takes parameters, gradients, averages and counters."""
    counting = all(one.dtype == counters[0].dtype for one in counters) and counters[0].dtype.name in (
        "int64",
        "float32",
    )
    return _alike(arrays) and arrays[0].dtype.name in FLOATS and counting and exists("aclnnFusedAdamw")


def _count(counters: Sequence[Any]) -> None:
    """Add one to every counter."""
    if _alike(counters) and counters[0].dtype.name in FLOATS and available("aclnnForeachAddScalarV2"):
        launch("aclnnForeachAddScalarV2", [counters, 1.0, counters])
        return
    for one in counters:
        launch("aclnnInplaceAdds", [one, 1, 1])


devices.list_kernels["npu"] = over_lists
devices.adam_steps["npu"] = adam_step

__all__ = ["adam_step", "available", "exists", "over_lists", "row_of"]
