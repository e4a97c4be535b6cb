"""Random integers in any element type, and permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .order import fill
from .uniform import CHUNK

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator


_WIDE_FROM = 1 << 28
_LONG_PERMUTATION = (1 << 32) // 20
_UINT64 = np.dtype(np.uint64)
# Largest integer + 1 that `random_()` draws below, by numpy type name; integers draw all their non-negative values.
_EXACT_FLOATS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def random_below(generator: Generator, out: Any, base: int, span: int) -> None:
    """Fill `out`, of any real type, with integers in [base, base + span)."""
    with generator.lock:
        engine = generator.engine
        draw = engine.wide_words if span >= _WIDE_FROM else engine.words
        fill(out, lambda flat: _fill(flat, lambda count: _modulo(draw(count), span), base))


def random_signed(generator: Generator, out: Any) -> None:
    """Fill `out` with integers over the whole range of int64."""
    with generator.lock:
        fill(out, lambda flat: _fill(flat, generator.engine.wide_words, 0))


def random_natural(generator: Generator, out: Any) -> None:
    """Fill `out` with what its type holds exactly: [0, max] for integers, [0, 2**digits] for floats."""
    name = out.dtype.name
    with generator.lock:
        engine = generator.engine
        draw = engine.wide_words if name in ("int64", "float64") else engine.words
        span = _natural_span(out.dtype)
        fill(out, lambda flat: _fill(flat, lambda count: _modulo(draw(count), span), 0))


def _natural_span(dtype: np.dtype[Any]) -> int:
    if dtype.name in _EXACT_FLOATS:
        return (1 << _EXACT_FLOATS[dtype.name]) + 1
    return 2 if dtype == np.bool_ else int(np.iinfo(dtype).max) + 1


def _modulo(words: Any, span: int) -> Any:
    if span >= 1 << (8 * words.dtype.itemsize):
        return words
    if span & (span - 1) == 0:
        return np.bitwise_and(words, words.dtype.type(span - 1), out=words)
    # numpy divides by a scalar with vector code, but takes remainders one by one.
    divisor = words.dtype.type(span)
    quotient = words // divisor
    np.multiply(quotient, divisor, out=quotient)
    return np.subtract(words, quotient, out=words)


def _fill(out: Any, draw: Any, base: int) -> None:
    through_float32 = out.dtype.kind not in "biuf" or (out.dtype.itemsize == 2 and out.dtype.kind == "f")
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        values = draw(part.size).astype(_UINT64, copy=False).view(np.int64)
        if base:
            # Sums wrap as C's unsigned arithmetic does: a span above 2**63 starts at a negative base.
            values = (values.view(_UINT64) + _UINT64.type(base % (1 << 64))).view(np.int64)
        part[...] = values.astype(np.float32) if through_float32 else values


def permutation(generator: Generator, out: Any) -> None:
    """Fill the one-dimensional `out` with a random permutation of its indices."""
    count = out.size
    if count >= _LONG_PERMUTATION:
        raise NotImplementedError(f"randperm of {count} elements: torch's algorithm for such lengths is not built yet")
    with generator.lock:
        steps = generator.engine.words(max(count - 1, 0))
    order = list(range(count))
    first = np.arange(len(steps), dtype=np.uint32)
    for here, there in enumerate((first + steps % (np.uint32(count) - first)).tolist()):
        order[here], order[there] = order[there], order[here]
    out[...] = np.array(order, np.int64)
