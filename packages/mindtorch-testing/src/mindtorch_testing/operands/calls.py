"""One call of one row with random operands, in all the ways there are, and what came of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mindtorch as mt
from mindtorch_testing.operands import layers, matrices, moves, quantized
from mindtorch_testing.operands.draw import FLOATS, Operands
from mindtorch_testing.operands.recipes import RECIPES

FAMILIES = (layers, matrices, moves, quantized)  # imported so that their recipes are entered
ROWS = sorted(RECIPES)
COARSE = {"bfloat16": 2e-2, "float16": 4e-3}
TOLERANCE = 2e-4
SEED = 7
Outcome = list[Any]


def function(row: str) -> Callable[..., Any]:
    """Return the public function that runs a row."""
    if row in ("_index_integer", "_index_masked"):
        return mt.ops.aten.index.Tensor
    packet, _, overload = row.partition(".")
    return getattr(getattr(mt.ops.aten, packet), overload or "default")


def tensors(value: Any) -> list[Any]:
    """Return the tensors in lists of arguments or results."""
    if isinstance(value, mt.Tensor):
        return [value]
    return [one for part in value for one in tensors(part)] if isinstance(value, list | tuple) else []


def _read(tensor: Any) -> np.ndarray:
    return (tensor.float() if tensor.dtype is mt.bfloat16 else tensor).detach().numpy().copy()


def describe(tensor: Any) -> Outcome:
    """Return what is compared of a tensor."""
    return [str(tensor.dtype).partition(".")[2], tuple(tensor.shape), tensor.stride(), _read(tensor)]


def folded(tensor: Any) -> bool:
    """Return whether two elements of a tensor share memory: what is written there depends on the order."""
    places = np.zeros(1, np.int64)
    for extent, step in zip(tensor.shape, tensor.stride(), strict=True):
        places = (places[:, None] + np.arange(extent) * step).ravel()
    return len(np.unique(places)) < len(places)


def attempt(run: Callable[[], Any], memory: list[Any], settled: bool = True) -> Outcome:
    """Return the results, or the error, and the memory of the operands afterwards; no values where none are `settled`."""
    mt.manual_seed(SEED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Outcome = ["results", [describe(one) for one in tensors(run())]]
    except Exception as error:  # noqa: BLE001 - whatever is raised is compared
        found = [type(error).__name__, str(error)]
    if settled:
        return [*found, [describe(one) for one in memory]]
    return [found[0], [] if found[0] == "results" else found[1], []]


def _shifted(draw: Operands, tensor: Any) -> Any:
    """Return a view of the tensor's memory one element further on or back, itself where there is none."""
    base = next((one for one in draw.made if one.data_ptr() <= tensor.data_ptr() < one.data_ptr() + one.nbytes), None)
    if base is None or base.dtype != tensor.dtype:
        return tensor
    place = tensor.storage_offset() + draw.pick([-1, 1, 2])
    last = place + sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.stride(), strict=True))
    fits = tensor.numel() and place >= 0 and last < base.numel()
    return base.as_strided(tensor.shape, tensor.stride(), place) if fits else tensor


def _out(draw: Operands, result: Any, given: list[Any]) -> Any:
    alike = [one for one in given if one.shape == result.shape and one.dtype == result.dtype]
    way = draw.pick({"fresh": 5, "input": 2, "shifted": 2, "dtype": 1, "shape": 1})
    if alike and way in ("input", "shifted"):
        return alike[0] if way == "input" else _shifted(draw, alike[0])
    dtype = draw.pick(FLOATS) if way == "dtype" else str(result.dtype).partition(".")[2]
    shape = draw.draw_shape() if way == "shape" else tuple(result.shape)
    return draw.lay_out(shape, dtype, lambda count: np.zeros(count))


def outcomes(row: str, seed: int) -> Iterator[tuple[str, Outcome]]:
    """Run a row: twice as it is (the second call is planned), with `out=`, and in place; give each way's outcome."""
    draw = Operands(seed)
    draw.begin()
    try:
        args, kwargs = RECIPES[row](draw)
    except (RuntimeError, NotImplementedError) as error:  # of a view no layout allows
        yield "operands", [type(error).__name__, str(error), []]
        return
    run = function(row)
    # What is written twice into one element depends on the order.
    settled = not (row.partition(".")[0].endswith("_") and isinstance(args[0], mt.Tensor) and folded(args[0]))
    for way in ("plain", "planned"):
        if "generator" in kwargs:
            kwargs["generator"].manual_seed(SEED)
        found = attempt(lambda: run(*args, **kwargs), draw.made, settled)
        yield way, found
    given = tensors(args)
    packet = row.partition(".")[0]
    if draw.chance(0.5) and found[0] == "results" and not packet.startswith("_") and not packet.endswith("_"):
        for way, found in _written(draw, packet, run, args, kwargs, given):
            yield way, found
            if not found[2]:
                return  # what memory holds by now is open
    method = getattr(args[0], f"{packet}_", None) if isinstance(args[0], mt.Tensor) else None
    if method is not None:
        for place, one in enumerate(args[1:], 1):
            if isinstance(one, mt.Tensor) and draw.chance(0.3) and one.dtype == args[0].dtype:
                args[place] = args[0] if draw.chance(0.5) else _shifted(draw, args[0])
        yield "in place", attempt(lambda: method(*args[1:], **kwargs), draw.made, not folded(args[0]))


def _written(
    draw: Operands, packet: str, run: Callable[..., Any], args: Any, kwargs: Any, given: list[Any]
) -> Iterator[tuple[str, Outcome]]:
    mt.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = tensors(run(*args, **kwargs))
    outs = tuple(_out(draw, result, given) for result in results)
    if outs:
        out = outs[0] if len(outs) == 1 else outs
        settled = not any(map(folded, outs))
        yield "out", attempt(lambda: getattr(mt.ops.aten, packet)(*args, **kwargs, out=out), draw.made, settled)


# --- comparing


def _arrays_differ(dtype: str, ours: np.ndarray, expected: np.ndarray) -> str:
    if dtype not in (*FLOATS, "complex64", "complex128"):
        places = np.flatnonzero(ours.ravel() != expected.ravel())
        return f"{ours.ravel()[places[:3]]} at {places[:3]}, not {expected.ravel()[places[:3]]}" if places.size else ""
    tolerance = COARSE.get(dtype, TOLERANCE)
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    with np.errstate(all="ignore"):
        near = np.isclose(ours, expected, rtol=tolerance, atol=tolerance * scale + 1e-6, equal_nan=True)
    places = np.flatnonzero(~near.ravel())
    return f"{ours.ravel()[places[:3]]} at {places[:3]}, not {expected.ravel()[places[:3]]}" if places.size else ""


def _tensor_differs(ours: Outcome, expected: Outcome) -> str:
    for name, one, other in zip(("dtype", "shape", "strides"), ours, expected, strict=False):
        if one != other:
            return f"{name} {one}, not {other}"
    return _arrays_differ(ours[0], ours[3], expected[3])


def difference(ours: Outcome, expected: Outcome) -> str:
    """Say in what an outcome is not the expected one; empty where it is."""
    if ours[0] != expected[0] or (ours[0] != "results" and ours[1] != expected[1]):
        return f"{str(ours[:2])[:300]}, not {str(expected[:2])[:300]}"
    for what, one, other in (("result", ours[1], expected[1]), ("memory", ours[2], expected[2])):
        if isinstance(one, list):
            if len(one) != len(other):
                return f"{len(one)} {what}s, not {len(other)}"
            for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
                reason = _tensor_differs(mine, theirs)
                if reason:
                    return f"{what} {place}: {reason}"
    return ""
