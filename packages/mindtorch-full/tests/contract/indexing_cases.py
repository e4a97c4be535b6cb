"""Random indices: described without a library, built for either one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np


def _position(rng: random.Random, extent: int) -> int:
    return rng.randint(-extent - 1, extent) if rng.random() < 0.1 else rng.randint(-extent, max(extent - 1, -extent))


def _slice(rng: random.Random, extent: int) -> tuple[str, Any]:
    bounds = [rng.choice([None, rng.randint(-extent - 2, extent + 2)]) for _ in range(2)]
    step = rng.choice([None, None, 1, 2, 3] + ([0, -1] if rng.random() < 0.1 else []))
    return "slice", (*bounds, step)


def _positions(rng: random.Random, extent: int, shape: tuple[int, ...]) -> Any:
    low, high = (-extent, extent) if extent else (0, 1)
    if rng.random() < 0.05:
        high += 1
    return np.array([rng.randrange(low, high) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)


def _advanced(rng: random.Random, extents: tuple[int, ...], common: tuple[int, ...]) -> tuple[str, Any]:
    extent = extents[0]
    kind = rng.choice(
        ["long", "long", "mask", "list", "array", "int32", "masklist", "nested", "wide", "uint8", "float"]
    )
    if kind == "float" and rng.random() < 0.7:
        kind = "long"
    shape = tuple(rng.choice([size, 1]) if rng.random() < 0.15 else size for size in common)
    if kind in ("long", "int32", "array", "float"):
        values = _positions(rng, extent, shape)
        return kind, values.astype(np.float32) if kind == "float" else values
    if kind == "list":
        return "list", _positions(rng, extent, shape[-1:] or (2,)).tolist()
    if kind == "nested":
        return "list", _positions(rng, extent, (2, 2)).tolist()
    length = extent + (1 if rng.random() < 0.05 else 0)
    if kind == "wide" and len(extents) > 1:
        return "mask", np.array([rng.random() < 0.5 for _ in range(extent * extents[1])], bool).reshape(
            extent, extents[1]
        )
    mask = np.array([rng.random() < 0.5 for _ in range(length)], bool)
    return ("list", mask.tolist()) if kind == "masklist" else ("uint8" if kind == "uint8" else "mask", mask)


def make_case(rng: random.Random) -> tuple[tuple[int, ...], bool, list[tuple[str, Any]], bool]:
    """Return (shape, transposed, items, single): a tensor's shape, whether it is transposed, what indexes it."""
    ndim = rng.choice([0, 1, 1, 2, 2, 3, 3, 4])
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 5]) if rng.random() < 0.5 else rng.choice([2, 3, 4]) for _ in range(ndim))
    common = rng.choice([(2,), (3,), (2, 2), (1,), (), (0,)])
    items: list[tuple[str, Any]] = []
    dim = 0
    allowed = ndim + (1 if rng.random() < 0.06 else 0)
    while len(items) < 6:
        kind = rng.choice(
            ["int", "slice", "slice", "none", "ellipsis", "advanced", "advanced", "bool", "scalar", "stop"]
        )
        extent = shape[dim] if dim < ndim else 2
        if kind == "stop" and items:
            break
        if kind == "none":
            items.append(("none", None))
        elif kind == "bool" and rng.random() < 0.3:
            items.append(("bool", rng.random() < 0.6))
        elif kind == "ellipsis" and (rng.random() < 0.05 or not any(item[0] == "ellipsis" for item in items)):
            items.append(("ellipsis", None))
        elif dim < allowed and kind in ("int", "slice", "advanced", "scalar"):
            if kind == "int":
                items.append((rng.choice(["int", "int", "npint"]), _position(rng, extent)))
            elif kind == "slice":
                items.append(_slice(rng, extent))
            elif kind == "scalar":
                items.append(("tensorint", _position(rng, extent)))
            else:
                items.append(_advanced(rng, shape[dim:] or (2,), common))
            wide = items[-1][0] == "mask" and items[-1][1].ndim == 2
            dim += 2 if wide else 1
        elif dim >= allowed and items:
            break
    return shape, rng.random() < 0.3, items, len(items) == 1 and rng.random() < 0.6


_WORDS = {"none": None, "ellipsis": Ellipsis}


def build_item(library: Any, item: tuple[str, Any]) -> Any:
    """Return one index as the objects of `library`."""
    kind, value = item
    if kind in _WORDS:
        return _WORDS[kind]
    if kind == "slice":
        return slice(*value)
    if kind in ("int", "list", "bool"):
        return value
    if kind == "npint":
        return np.int64(value)
    if kind == "array":
        return value
    if kind == "tensorint":
        return library.tensor(value)
    dtypes = {"long": "int64", "int32": "int32", "mask": "bool", "uint8": "uint8", "float": "float32"}
    return library.tensor(value.tolist(), dtype=getattr(library, dtypes[kind])).reshape(value.shape)


def build_index(library: Any, items: list[tuple[str, Any]], single: bool) -> Any:
    """Return the whole index as the objects of `library`."""
    built = [build_item(library, item) for item in items]
    return built[0] if single else tuple(built)


def build_tensor(library: Any, shape: tuple[int, ...], transposed: bool, requires_grad: bool = False) -> Any:
    """Return the tensor to index: counted elements, the dimensions reversed when `transposed`."""
    count = int(np.prod(shape))
    if not transposed:
        made = library.arange(count, dtype=library.float32).reshape(shape)
    else:
        made = library.arange(count, dtype=library.float32).reshape(shape[::-1])
        made = made.permute(*range(len(shape))[::-1]) if shape else made
    return made.requires_grad_(True) if requires_grad else made
