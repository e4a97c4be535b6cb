"""Random numbers: the rows' arguments, brought to the fills of `mindtorch_cpu.random`.

A fill writes its first argument, so its kernel gets that array twice, as `out` and as `self`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_cpu import random
from mindtorch_cpu.generator import Generator, default_generator
from mindtorch_cpu.many_dimensions import broadcast_arrays
from mindtorch_cpu.register import kernel
from mindtorch_dispatch.meta.random_checks import warn_of_rounding


def _source(generator: Generator | None) -> Generator:
    return default_generator if generator is None else generator


def _integers(generator: Generator, out: Any, first: int, count: int) -> None:
    """Fill `out` with integers from `first` on; warns of those that a floating-point type rounds."""
    if out.dtype.kind not in "iub":
        warn_of_rounding(out.dtype, first, first + count - 1)
    random.random_below(generator, out, first, count)


def _is_complex(array: Any) -> bool:
    return array.dtype.kind == "c" or array.dtype.names is not None  # complex32 is a pair of halves


def _real(array: Any) -> Any:
    """Return `array`, or the parts of a complex one as a last dimension of two."""
    if not _is_complex(array):
        return array
    part = array["real"] if array.dtype.names else array.real
    strides = (*array.strides, array.dtype.itemsize // 2)
    return np.lib.stride_tricks.as_strided(part, (*array.shape, 2), strides)


def _uniform(out: Any, generator: Generator | None, low: float = 0.0, high: float = 1.0) -> None:
    random.uniform(_source(generator), _real(out), low, high)


def _normal(out: Any, generator: Generator | None, mean: float = 0.0, std: float = 1.0) -> None:
    # Each part of a complex number has half the variance.
    share = std / np.sqrt(2.0) if _is_complex(out) else std
    random.normal(_source(generator), _real(out), mean, float(share))


@kernel("uniform_", upcast=False)
def uniform_(out: Any, self: Any, low: float, high: float, generator: Any) -> None:
    """Uniform in [low, high)."""
    _uniform(out, generator, low, high)


@kernel("normal_", upcast=False)
def normal_(out: Any, self: Any, mean: float, std: float, generator: Any) -> None:
    """Normal."""
    _normal(out, generator, mean, std)


@kernel("exponential_", upcast=False)
def exponential_(out: Any, self: Any, lambd: float, generator: Any) -> None:
    """Exponential with rate `lambd`."""
    random.exponential(_source(generator), out, lambd)


@kernel("geometric_", upcast=False)
def geometric_(out: Any, self: Any, p: float, generator: Any) -> None:
    """Trials until the first success."""
    random.geometric(_source(generator), out, p)


@kernel("cauchy_", upcast=False)
def cauchy_(out: Any, self: Any, median: float, sigma: float, generator: Any) -> None:
    """Cauchy."""
    random.cauchy(_source(generator), out, median, sigma)


@kernel("log_normal_", upcast=False)
def log_normal_(out: Any, self: Any, mean: float, std: float, generator: Any) -> None:
    """Exponentials of normals."""
    random.log_normal(_source(generator), out, mean, std)


@kernel("random_", upcast=False)
def random_(out: Any, self: Any, generator: Any) -> None:
    """Integers over what the dtype holds exactly."""
    if out.size:
        random.random_natural(_source(generator), out)


@kernel("random_.to", upcast=False)
def random_to(out: Any, self: Any, span: tuple[int, int], generator: Any) -> None:
    """Integers from a first value on."""
    random.random_below(_source(generator), out, *span)


@kernel("random_.from", upcast=False)
def random_from(out: Any, self: Any, first: int, count: int | None, generator: Any) -> None:
    """Integers from `first` on; all of int64 when there is no count."""
    if count is None:
        random.random_signed(_source(generator), out)
    else:
        _integers(_source(generator), out, first, count)


@kernel("bernoulli_.float", "bernoulli.p", upcast=False)
def bernoulli_float_(out: Any, self: Any, p: float, generator: Any) -> None:
    """Ones with probability `p`."""
    random.bernoulli(_source(generator), out, p)


@kernel("bernoulli_.Tensor", "bernoulli.Tensor", upcast=False)
def bernoulli_tensor_(out: Any, self: Any, p: Any, generator: Any) -> None:
    """Ones with elementwise probabilities."""
    if out.size:
        random.bernoulli_each(_source(generator), out, p)


@kernel("rand", upcast=False)
def rand(out: Any, size: Any, *options: Any) -> None:
    """Uniform in [0, 1)."""
    _uniform(out, None)


@kernel("rand.generator", upcast=False)
def rand_generator(out: Any, size: Any, generator: Any, *options: Any) -> None:
    """Uniform in [0, 1)."""
    _uniform(out, generator)


@kernel("randn", upcast=False)
def randn(out: Any, size: Any, *options: Any) -> None:
    """Standard normal."""
    _normal(out, None)


@kernel("randn.generator", upcast=False)
def randn_generator(out: Any, size: Any, generator: Any, *options: Any) -> None:
    """Standard normal."""
    _normal(out, generator)


kernel("rand_like", upcast=False)(rand)
kernel("rand_like.generator", upcast=False)(rand_generator)
kernel("randn_like", upcast=False)(randn)
kernel("randn_like.generator", upcast=False)(randn_generator)


@kernel("normal.float_float", upcast=False)
def normal_sized(out: Any, mean: float, std: float, size: Any, generator: Any, *options: Any) -> None:
    """Normal, of a given size."""
    _normal(out, generator, mean, std)


@kernel("randint", upcast=False)
def randint(out: Any, span: tuple[int, int], *options: Any) -> None:
    """Integers from a first value on."""
    _integers(default_generator, out, *span)


@kernel("randint.generator", upcast=False)
def randint_generator(out: Any, span: tuple[int, int], size: Any, generator: Any, *options: Any) -> None:
    """Integers from a first value on."""
    _integers(_source(generator), out, *span)


kernel("randint.low", upcast=False)(randint)


@kernel("randint.low_generator", upcast=False)
def randint_low_generator(out: Any, span: tuple[int, int], high: int, size: Any, generator: Any, *options: Any) -> None:
    """Integers from a first value on."""
    _integers(_source(generator), out, *span)


@kernel("randint_like", "randint_like.low_dtype", upcast=False)
def randint_like(out: Any, self: Any, span: tuple[int, int], *options: Any) -> None:
    """Integers from a first value on."""
    _integers(default_generator, out, *span)


@kernel("randint_like.generator", upcast=False)
def randint_like_generator(out: Any, self: Any, span: tuple[int, int], generator: Any, *options: Any) -> None:
    """Integers from a first value on."""
    _integers(_source(generator), out, *span)


@kernel("randint_like.low_generator_dtype", upcast=False)
def randint_like_low_generator(
    out: Any, self: Any, span: tuple[int, int], high: int, generator: Any, *options: Any
) -> None:
    """Integers from a first value on."""
    _integers(_source(generator), out, *span)


@kernel("randperm", upcast=False)
def randperm(out: Any, n: int, *options: Any) -> None:
    """A permutation of `range(n)`."""
    random.permutation(default_generator, out)


@kernel("randperm.generator", upcast=False)
def randperm_generator(out: Any, n: int, generator: Any, *options: Any) -> None:
    """A permutation of `range(n)`."""
    random.permutation(_source(generator), out)


@kernel("bernoulli", upcast=False)
def bernoulli(out: Any, self: Any, generator: Any) -> None:
    """Ones with elementwise probabilities."""
    random.bernoulli_each(_source(generator), out, self)


@kernel("poisson", upcast=False)
def poisson(out: Any, self: Any, generator: Any) -> None:
    """Poisson counts of elementwise rates."""
    random.poisson(_source(generator), out, self)


@kernel("binomial", upcast=False)
def binomial(out: Any, count: Any, prob: Any, generator: Any) -> None:
    """Successes in elementwise trials."""
    counts, chances = broadcast_arrays(count, prob)
    random.binomial(_source(generator), out, counts, chances)


@kernel("_standard_gamma", upcast=False)
def standard_gamma(out: Any, self: Any, generator: Any) -> None:
    """Gamma numbers of elementwise shape."""
    random.standard_gamma(_source(generator), out, self)


@kernel("_sample_dirichlet", upcast=False)
def sample_dirichlet(out: Any, self: Any, generator: Any) -> None:
    """Probabilities of elementwise concentrations."""
    random.sample_dirichlet(_source(generator), out, self)


@kernel("multinomial", upcast=False)
def multinomial(out: Any, self: Any, num_samples: int, replacement: bool, generator: Any) -> None:
    """Category numbers by weights."""
    random.multinomial(_source(generator), out, self, replacement)
