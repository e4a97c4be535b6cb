"""Low-discrepancy sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import LazyModule

_qmc = LazyModule("scipy.stats.qmc", "scipy ships the table of Joe and Kuo, but scipy.stats is large")

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of a Sobol' sequence, with Joe and Kuo's direction numbers, optionally scrambled.

    `draw(n)` returns n points of [0, 1)^dimension, `draw_base2(m)` 2**m of them. Source: S. Joe and F. Y. Kuo,
    "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008); A. B. Owen,
    "Scrambling Sobol' and Niederreiter-Xing points", J. Complexity 14 (1998).

    >>> import mindtorch as torch
    >>> torch.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = _directions(dimension, self.MAXBIT)
        if scramble:
            self._scramble()
        else:
            self.shift = torch.zeros(dimension, dtype=torch.long)
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        shift = torch.randint(2, (self.dimension, bits), generator=generator).numpy()
        self.shift = torch.from_numpy(shift @ (1 << np.arange(bits)))
        lower = torch.randint(2, (self.dimension, bits, bits), generator=generator).tril().numpy()
        lower[:, np.arange(bits), np.arange(bits)] = 1
        # Every direction number, highest bit first, times a lower triangular matrix over GF(2).
        places = np.arange(bits - 1, -1, -1)
        digits = self.sobolstate.numpy()[:, :, None] >> places & 1
        mixed = np.einsum("dpk,djk->djp", lower, digits) & 1
        self.sobolstate = torch.from_numpy((mixed << places).sum(-1))

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """Return the next n points, an (n, dimension) tensor of the default dtype unless told."""
        dtype = torch.get_default_dtype() if dtype is None else dtype
        first = self.num_generated == 0
        rest = n - 1 if first else n
        if rest < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {rest}: [{rest}, {self.dimension}]")
        points = torch.from_numpy(self._advance(rest) * 2.0**-self.MAXBIT).to(dtype)
        result = torch.cat((self._first_point.to(dtype), points), dim=-2) if first else points
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def _advance(self, count: int) -> Any:
        """Return the integers behind the next `count` points (the first point is not one) and move on."""
        start = max(self.num_generated - 1, 0)
        numbers = np.arange(start, start + count, dtype=np.int64)
        # In Gray code order each point differs from the one before by the direction of the lowest zero bit.
        zero_bit = np.log2((~numbers & (numbers + 1)).astype(np.float64)).astype(np.int64)
        steps = self.sobolstate.numpy()[:, zero_bit].T
        points = np.bitwise_xor.accumulate(np.concatenate([self.quasi.numpy()[None], steps]), axis=0)
        self.quasi = torch.from_numpy(points[-1].copy())
        return points[1:]

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """Return the next 2**m points. ValueError when the number of points is then no power of 2."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Go back to the first point; returns self."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave n points out; returns self."""
        self._advance(n - 1 if self.num_generated == 0 else n)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        text = [f"dimension={self.dimension}"]
        if self.scramble:
            text.append("scramble=True")
        if self.seed is not None:
            text.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(text)})"


def _directions(dimension: int, bits: int) -> Any:
    engine: Any = _qmc.Sobol(dimension, scramble=False, bits=bits)
    return torch.from_numpy(engine._sv.astype(np.int64))


adopt(globals())
