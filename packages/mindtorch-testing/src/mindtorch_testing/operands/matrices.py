"""Arguments of linear algebra and of transforms. Matrices have factors that rounding does not change: one element of each
row and of each column is much larger than the others."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch as mt
from mindtorch_testing.operands.draw import Operands
from mindtorch_testing.operands.recipes import rows

DTYPES = {"float32": 4, "float64": 2, "complex64": 2, "complex128": 1}
SIZES = (0, 1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 65)


def _numbers(draw: Operands, shape: tuple[int, ...]) -> np.ndarray:
    values = draw.random.standard_normal(shape)
    if "complex" in draw.dtype:
        return values + 1j * draw.random.standard_normal(shape)
    return values


def _laid_out(draw: Operands, values: np.ndarray) -> Any:
    """Return the batch in memory by rows or by columns, dense or with gaps, at times one item for all of a dimension."""
    if draw.chance(0.3):
        made = mt.tensor(values.swapaxes(-1, -2).copy()).transpose(-1, -2)
    elif draw.chance(0.2):
        made = mt.tensor(values.repeat(2, -1))[..., ::2]
    else:
        made = mt.tensor(values)
    draw.made.append(made)
    return made.to(getattr(mt, draw.dtype))


def _begin(draw: Operands) -> tuple[tuple[int, ...], int]:
    draw.tame().dtype = draw.pick(DTYPES)
    batch = tuple(draw.pick([0, 1, 2, 3, 5]) if draw.chance(0.1) else draw.whole(1, 4) for _ in range(draw.whole(0, 3)))
    return batch, draw.pick(SIZES)


def _square(draw: Operands, batch: tuple[int, ...], size: int) -> Any:
    values = _numbers(draw, (*batch, size, size)) / max(size, 1)
    large = np.eye(size)[draw.random.permutation(size)] * draw.random.uniform(2, 4, (size, 1))
    singular = draw.chance(0.08) and size > 0
    values = values + large
    if singular:
        values[..., -1] = 0
    return _laid_out(draw, values)


def _positive(draw: Operands, batch: tuple[int, ...], size: int) -> Any:
    values = _numbers(draw, (*batch, size, size))
    values = values @ values.conj().swapaxes(-1, -2) / max(size, 1) + 2 * np.eye(size)
    if draw.chance(0.08):
        values = values - 4 * np.eye(size)
    return _laid_out(draw, values)


def _right(draw: Operands, batch: tuple[int, ...], rows_of: int, columns: int) -> Any:
    return _laid_out(draw, _numbers(draw, (*draw.broadcast(batch), rows_of, columns)))


rows("linalg_lu_factor_ex linalg_inv_ex _linalg_det _linalg_slogdet")(lambda d: [_square(d, *_begin(d))])


@rows("linalg_cholesky_ex")
def _cholesky(draw: Operands) -> Any:
    return [_positive(draw, *_begin(draw))], {"upper": draw.chance(0.5)}


@rows("_linalg_solve_ex")
def _solve(draw: Operands) -> Any:
    batch, size = _begin(draw)
    left, columns = draw.chance(0.6), draw.pick([1, 2, 5, 17])
    right = _right(draw, batch, *((size, columns) if left else (columns, size)))
    return [_square(draw, batch, size), right], {"left": left}


@rows("linalg_lu_solve")
def _lu_solve(draw: Operands) -> Any:
    batch, size = _begin(draw)
    left, columns = draw.chance(0.6), draw.pick([1, 2, 5, 17])
    factors, pivots, _ = mt.ops.aten.linalg_lu_factor_ex(_square(draw, batch, size))
    right = _right(draw, batch, *((size, columns) if left else (columns, size)))
    return [factors, pivots, right], {"left": left, "adjoint": draw.chance(0.5)}


@rows("linalg_solve_triangular")
def _triangular(draw: Operands) -> Any:
    batch, size = _begin(draw)
    left, columns = draw.chance(0.6), draw.pick([1, 2, 5, 17])
    right = _right(draw, batch, *((size, columns) if left else (columns, size)))
    options = {"upper": draw.chance(0.5), "left": left, "unitriangular": draw.chance(0.3)}
    return [_positive(draw, batch, size), right], options


@rows("cholesky_solve")
def _cholesky_solve(draw: Operands) -> Any:
    batch, size = _begin(draw)
    right = _right(draw, batch, size, draw.pick([1, 2, 5, 17]))
    return [right, _positive(draw, batch, size)], {"upper": draw.chance(0.5)}


# Values alone: vectors of values that lie close are any.
@rows("_linalg_eigh")
def _eigh(draw: Operands) -> Any:
    return [_square(draw, *_begin(draw)), draw.pick(["L", "U"]), False]


@rows("_linalg_svd")
def _svd(draw: Operands) -> Any:
    return [_square(draw, *_begin(draw)), draw.chance(0.5), False, None]


rows("linalg_qr")(lambda d: [_square(d, *_begin(d)), d.pick(["reduced", "complete", "r"])])
rows("geqrf")(lambda d: [_square(d, *_begin(d))])


# --- transforms

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 17, 30, 32, 40, 64, 100)


def _signal(draw: Operands, kinds: dict[str, int]) -> tuple[Any, list[int]]:
    draw.tame()
    shape = tuple(
        draw.pick(LENGTHS) if draw.chance(0.7) else draw.pick([1, 2, 17, 33]) for _ in range(draw.whole(1, 3))
    )
    dims = draw.dims(len(shape)) or [len(shape) - 1]
    return draw.tensor(shape, draw.pick(kinds)), dims


@rows("_fft_c2c")
def _complex(draw: Operands) -> list[Any]:
    return [*_signal(draw, {"complex64": 1, "complex128": 1}), draw.whole(0, 2), draw.chance(0.5)]


@rows("_fft_r2c")
def _real(draw: Operands) -> list[Any]:
    return [*_signal(draw, {"float32": 1, "float64": 1}), draw.whole(0, 2), draw.chance(0.6)]


@rows("_fft_c2r")
def _back(draw: Operands) -> list[Any]:
    given, dims = _signal(draw, {"complex64": 1, "complex128": 1})
    most = 2 * (given.shape[dims[-1]] - 1)
    return [given, dims, draw.whole(0, 2), most if most > 0 and draw.chance(0.8) else most + 1]
