"""How values are written in the archive of an exported program: numbers for types and layouts, texts for sizes that vary."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.export._sizes import Quotient, Size, Sum, Symbol, linear, summed

SCALAR_TYPES: dict[int, torch.dtype] = {
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    9: torch.complex32,
    10: torch.complex64,
    11: torch.complex128,
    12: torch.bool,
    13: torch.bfloat16,
    28: torch.uint16,
    29: torch.float8_e4m3fn,
    30: torch.float8_e5m2,
    31: torch.float8_e4m3fnuz,
    32: torch.float8_e5m2fnuz,
}
LAYOUTS: dict[int, torch.layout] = {
    1: torch.sparse_coo,
    2: torch.sparse_csr,
    3: torch.sparse_csc,
    4: torch.sparse_bsr,
    5: torch.sparse_bsc,
    7: torch.strided,
}
MEMORY_FORMATS: dict[int, torch.memory_format] = {
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
    4: torch.preserve_format,
}


def number_of(table: dict[int, Any], value: object) -> int:
    """Return the number that a table has for a type, layout or format.

    Raises:
        NotImplementedError: it has none.
    """
    for number, one in table.items():
        if one is value:
            return number
    raise NotImplementedError(f"torch.export.save: {value} has no number in archives")


def written_device(device: torch.device) -> dict[str, Any]:
    """Return how a device is written."""
    return {"type": device.type, "index": device.index}


def written_float(value: float) -> float | str:
    """Return how a number is written: JSON has no infinities."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def read_float(value: float | str) -> float:
    """Return the number that `written_float` wrote."""
    return float(value)


def written_size(size: int) -> dict[str, Any]:
    """Return how a size is written: a number, or an expression with the example's value."""
    if isinstance(size, Size):
        return {"as_expr": {"expr_str": _text(size.expr), "hint": {"as_int": int(size)}}}
    return {"as_int": int(size)}


def _text(expr: Sum) -> str:
    parts = []
    for atoms, times in expr.terms:
        factors = [f"Integer({times})"] if times != 1 or not atoms else []
        for atom in dict.fromkeys(atoms):
            power = atoms.count(atom)
            text = (
                f"Symbol('{atom.name}', positive=True, integer=True)"
                if isinstance(atom, Symbol)
                else f"FloorDiv({_text(atom.of)}, Integer({atom.by}))"
            )
            factors.append(text if power == 1 else f"Pow({text}, Integer({power}))")
        parts.append(factors[0] if len(factors) == 1 else f"Mul({', '.join(factors)})")
    return parts[0] if len(parts) == 1 else f"Add({', '.join(parts)})"


def read_size(given: dict[str, Any]) -> int:
    """Return the size that was written; one whose expression is no sum of products shows its value in the example."""
    if "as_int" in given:
        return int(given["as_int"])
    expr = read_expression(given["as_expr"]["expr_str"])
    hint = (given["as_expr"].get("hint") or {}).get("as_int")
    if hint is None:
        raise NotImplementedError("torch.export.load: a size that depends on data")
    return int(hint) if expr is None else Size(expr, int(hint))


def read_expression(text: str) -> Sum | None:
    """Return the expression that a text writes, None for one that is no whole-number sum of products."""
    return _expression(ast.parse(text, mode="eval").body)


def _expression(node: ast.expr) -> Sum | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return None
    name = node.func.id
    if name in ("Symbol", "Integer"):
        value = ast.literal_eval(node.args[0])
        return linear(Symbol(value)) if name == "Symbol" else summed({(): int(value)})
    parts = [_expression(one) for one in node.args]
    known = [one for one in parts if one is not None]
    if len(known) < len(parts) or not known:
        return None
    if name == "Add":
        return _added(known)
    if name == "Mul":
        return multiplied(known)
    number = dict(known[-1].terms).get((), None)
    if number is None or len(known) != 2:
        return None
    if name == "Pow" and number > 0:
        return multiplied([known[0]] * number)
    return summed({(Quotient(known[0], number),): 1}) if name == "FloorDiv" else None


def _added(parts: Sequence[Sum]) -> Sum:
    total: dict[Any, int] = {}
    for part in parts:
        for atoms, times in part.terms:
            total[atoms] = total.get(atoms, 0) + times
    return summed(total)


def multiplied(parts: Sequence[Sum]) -> Sum:
    """Return the product of expressions."""
    made = summed({(): 1})
    for part in parts:
        total: dict[Any, int] = {}
        for atoms, times in made.terms:
            for more, factor in part.terms:
                key = tuple(sorted((*atoms, *more), key=str))
                total[key] = total.get(key, 0) + times * factor
        made = summed(total)
    return made


def written_tensor(value: torch.Tensor) -> dict[str, Any]:
    """Return what an archive says of a tensor: its type and geometry."""
    shape = tuple(getattr(value, "_varying", None) or value.shape)
    return {
        "dtype": number_of(SCALAR_TYPES, value.dtype),
        "sizes": [written_size(size) for size in shape],
        "requires_grad": bool(value.requires_grad),
        "device": written_device(value.device),
        "strides": [written_size(step) for step in _steps(value, shape)],
        "storage_offset": {"as_int": int(value.storage_offset())},
        "layout": number_of(LAYOUTS, value.layout),
    }


def _steps(value: torch.Tensor, shape: Sequence[int]) -> list[int]:
    """Return the strides; those that are products of sizes that vary show it."""
    found: list[int] = list(value.stride())
    step: Sum = summed({(): 1})
    for place in sorted(range(value.dim()), key=lambda one: (found[one], -one)):
        if step.value(_hints(step, shape)) != found[place]:
            break
        if any(atoms for atoms, _ in step.terms):
            found[place] = Size(step, found[place])
        size = shape[place]
        step = multiplied([step, size.expr if isinstance(size, Size) else summed({(): int(size)})])
    return found


def _hints(expr: Sum, shape: Sequence[int]) -> dict[Symbol, int]:
    """Return the example's values of symbols, of those sizes that are a symbol."""
    found = {}
    for size in shape:
        if isinstance(size, Size) and isinstance(size.expr.atom, Symbol):
            found[size.expr.atom] = int(size)
    wanted = {atom for atoms, _ in expr.terms for atom in atoms if isinstance(atom, Symbol)}
    return {**dict.fromkeys(wanted, -1), **found}


def read_tensor(given: dict[str, Any], mode: FakeTensorMode) -> Any:
    """Return a fake tensor of the type and geometry that was written."""
    if LAYOUTS.get(given["layout"]) is not torch.strided:
        return None
    shape = [read_size(size) for size in given["sizes"]]
    with mode:
        made = torch.empty_strided(
            [int(size) for size in shape],
            [int(read_size(step)) for step in given["strides"]],
            dtype=SCALAR_TYPES[given["dtype"]],
            device=read_device(given["device"]),
        )
    if made.dtype.is_floating_point or made.dtype.is_complex:
        made.requires_grad_(given["requires_grad"])
    if any(isinstance(size, Size) for size in shape):
        made._varying = tuple.__new__(torch.Size, shape)
    return made


def read_device(given: dict[str, Any]) -> torch.device:
    """Return the device that was written."""
    return torch.device(given["type"]) if given["index"] is None else torch.device(given["type"], given["index"])
