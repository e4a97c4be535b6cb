"""Meta rules of random ops.

Which parameters are legal depends on their values, so rows name these parameters `static`: a plan holds for one value.
torch fills nothing where there are no elements, and so reaches no kernel that would lack their dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import bfloat16, float16, float32, float64, int64
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..meta.checks import check
from ..meta.factory import fresh, like_spec
from ..meta.random_checks import (
    CPP_NAMES,
    INTEGERS,
    REAL_FLOATS,
    check_expandable,
    check_normal,
    check_permutation,
    check_probability,
    check_uniform,
    integer_range,
    number,
    warn_of_rounding,
)
from ..meta.rule import MetaRule, Outputs, meta_rule
from .support import lacking, require

rule = meta_rule()
factory_rule = meta_rule(out=True)
_INT64_MIN = -(2**63)
_BERNOULLI = (*REAL_FLOATS, *INTEGERS, bool_dtype)


@rule
def uniform_(self: Spec, low: float, high: float, generator: object | None) -> Spec:
    """`uniform_`."""
    if self.numel or not self.dtype.is_complex:
        check_uniform(self.dtype, low, high)
    return self


@rule
def normal_(self: Spec, mean: float, std: float, generator: object | None) -> Spec:
    """`normal_`."""
    check_normal(self, std)
    return self


@rule
def exponential_(self: Spec, lambd: float, generator: object | None) -> Spec:
    """`exponential_`."""
    check(lambd > 0.0, lambda: f"exponential_ expects lambda > 0.0, but found lambda={number(lambd)}")
    if not self.numel:
        return self
    check(
        self.dtype.is_floating_point,
        lambda: (
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {self.dtype.scalar_name}"
        ),
    )
    require(self.dtype in REAL_FLOATS, self, "exponential_cpu")
    return self


@rule
def geometric_(self: Spec, p: float, generator: object | None) -> Spec:
    """`geometric_`."""
    check(0 < p < 1, lambda: f"geometric_ expects p to be in (0, 1), but got p={number(p)}")
    require(not self.numel or self.dtype in REAL_FLOATS + INTEGERS, self, "geometric_cpu")
    return self


@rule
def cauchy_(self: Spec, median: float, sigma: float, generator: object | None) -> Spec:
    """`cauchy_`."""
    check(sigma > 0.0, lambda: f"cauchy_ expects sigma > 0.0, but found sigma={number(sigma)}")
    check(
        self.dtype.is_floating_point,
        lambda: (
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {CPP_NAMES.get(self.dtype, self.dtype.scalar_name)}"
        ),
    )
    require(not self.numel or self.dtype in REAL_FLOATS, self, "cauchy_cpu")
    return self


@rule
def log_normal_(self: Spec, mean: float, std: float, generator: object | None) -> Spec:
    """`log_normal_`."""
    check(std > 0.0, lambda: f"log_normal_ expects std > 0.0, but found std={number(std)}")
    check(
        self.device.type != "meta" or self.dtype.is_floating_point,
        lambda: f"log_normal not implemented for {self.dtype}",
    )
    require(not self.numel or self.dtype in REAL_FLOATS, self, "log_normal_cpu")
    return self


@rule
def random_(self: Spec, generator: object | None) -> Spec:
    """`random_()`."""
    require(not self.numel or self.dtype in (*REAL_FLOATS, *INTEGERS, bool_dtype), self, "random_kernel_cpu")
    return self


@rule
def random_to(self: Spec, to: int, generator: Any) -> Outputs:
    """`random_(to)`; the kernel gets the pair of first value and count."""
    first, count = integer_range(self.dtype, 0, to)
    if self.dtype.is_floating_point:
        warn_of_rounding(self.dtype.np, first, first + count - 1)  # here, because a native kernel does not warn
    return Outputs(self, values=(self, (first, count), generator))


@rule
def random_from(self: Spec, low: int, high: int | None, generator: Any) -> Outputs:
    """`random_(from, to)`; the kernel gets first value and count, the count None for all of int64."""
    if high is None and low == _INT64_MIN:
        if not self.numel:
            return Outputs(self, values=(self, low, None, generator))
        drawn = self.dtype is not float16 and not self.dtype.is_complex and self.dtype in (*REAL_FLOATS, *INTEGERS)
        require(drawn, self, "random_full_64_bits_range_kernel_cpu")
        check(
            self.dtype in (int64, float64, float32, bfloat16),
            lambda: "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16",
        )
        return Outputs(self, values=(self, low, None, generator))
    first, count = integer_range(self.dtype, low, high)
    return Outputs(self, values=(self, first, count, generator))


@rule
def bernoulli_float_(self: Spec, p: float, generator: object | None) -> Spec:
    """`bernoulli_(p)`."""
    check_probability(p)
    require(not self.numel or self.dtype in _BERNOULLI, self, "bernoulli_scalar_cpu_")
    return self


@rule
def bernoulli_tensor_(self: Spec, p: Spec, generator: object | None) -> Spec:
    """`bernoulli_` with elementwise probabilities, which broadcast to `self`."""
    if not self.numel:
        return self
    require(self.dtype in _BERNOULLI, self, "bernoulli_tensor_cpu_self_")
    require(p.dtype in REAL_FLOATS, p, "bernoulli_tensor_cpu_p_")
    check_expandable(p, self)
    return self


def _dense(self: Spec) -> Spec:
    return self if self.is_contiguous else Spec.of(self.dtype, self.device, self.shape)


@rule
def bernoulli(self: Spec, generator: object | None) -> Spec:
    """`bernoulli`: elementwise probabilities, result of their dtype."""
    if self.numel and self.dtype not in REAL_FLOATS:
        kernel = "bernoulli_tensor_cpu_p_" if self.dtype in _BERNOULLI else "bernoulli_tensor_cpu_self_"
        raise lacking(self.dtype, kernel)
    return _dense(self)


@rule
def bernoulli_p(self: Spec, p: float, generator: object | None) -> Spec:
    """`bernoulli(p)`: one probability, result of the geometry's dtype."""
    return _dense(bernoulli_float_(self, p, generator))


@rule
def bernoulli_tensor(self: Spec, p: Spec, generator: object | None) -> Spec:
    """`bernoulli.Tensor`: elementwise probabilities, result of the dtype of `self`."""
    return _dense(bernoulli_tensor_(self, p, generator))


def _elementwise_rule(kernel: str, dtypes: tuple[Dtype, ...]) -> MetaRule:
    @rule
    def elementwise(self: Spec, generator: object | None) -> Spec:
        require(self.dtype in dtypes, self, kernel)
        return _dense(self)

    return elementwise


poisson = _elementwise_rule("poisson_cpu", REAL_FLOATS)
standard_gamma = _elementwise_rule("gamma_cpu", (float32, float64))


@rule
def sample_dirichlet(self: Spec, generator: object | None) -> Spec:
    """`_sample_dirichlet`: one probability per concentration."""
    require(self.dtype in (float32, float64), self, "dirichlet")
    return _dense(self)


def same_single_or_double(kernel: str) -> Callable[..., None]:
    """Return the check of an op whose tensors are all float32 or all float64."""

    def check_dtypes(first: Spec, *others: Spec) -> None:
        for other in others:
            check(
                other.dtype is first.dtype,
                lambda other=other: f"Found dtype {other.dtype.scalar_name} but expected {first.dtype.scalar_name}",
            )
        require(first.dtype in (float32, float64), first, kernel)

    return check_dtypes


@rule
def binomial(count: Spec, prob: Spec, generator: object | None) -> Spec:
    """`binomial`: counts and probabilities of one shape."""
    for name, spec in (("count", count), ("prob", prob)):
        check(
            spec.dtype.is_floating_point,
            lambda name=name, spec=spec: (
                f"binomial only supports floating-point dtypes for {name}, got: {spec.dtype.scalar_name}"
            ),
            ValueError,
        )
    shape = broadcast_shapes(count.shape, prob.shape)
    check(
        count.dtype is prob.dtype,
        lambda: f"Found dtype {prob.dtype.scalar_name} but expected {count.dtype.scalar_name}",
    )
    require(count.dtype in (float32, float64), count, "binomial_cpu")
    return Spec.of(count.dtype, count.device, shape)


@meta_rule(out=True, exact=lambda spec, given: f"multinomial expects Long tensor out, got: {given.scalar_name}")
def multinomial(self: Spec, num_samples: int, replacement: bool, generator: object | None) -> Spec:
    """`multinomial`: category numbers drawn by weights."""
    check(0 < self.ndim <= 2, lambda: "prob_dist must be 1 or 2 dim")
    check(
        self.dtype in REAL_FLOATS,
        lambda: f"multinomial only supports floating-point dtypes for input, got: {self.dtype.scalar_name}",
    )
    check(num_samples > 0, lambda: "cannot sample n_sample <= 0 samples")
    categories = self.shape[-1]
    check(
        replacement or num_samples <= categories,
        lambda: "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    )
    check(categories <= 1 << 24, lambda: "number of categories cannot exceed 2^24")
    return Spec.of(int64, self.device, (*self.shape[:-1], num_samples))


def sized(verify: Callable[[Spec], None]) -> MetaRule:
    """Return the rule of a factory `(size, [generator], dtype, layout, device, pin_memory)`."""

    @factory_rule
    def made(size: Any, *options: Any) -> Spec:
        dtype, _, device, _ = options[-4:]
        spec = fresh(size, dtype, device)
        verify(spec)
        return spec

    return made


def like(verify: Callable[[Spec], None]) -> MetaRule:
    """Return the rule of `(self, [generator], dtype, layout, device, pin_memory, memory_format)`."""

    @rule
    def made(self: Spec, *options: object) -> Spec:
        dtype, _, device, _, memory_format = options[-5:]
        spec = like_spec(self, dtype, device, memory_format)
        verify(spec)
        return spec

    return made


def verify_uniform(spec: Spec) -> None:
    """Check that uniforms in [0, 1) exist in the dtype."""
    if spec.numel or not spec.dtype.is_complex:
        check_uniform(spec.dtype, 0.0, 1.0)


def verify_normal(spec: Spec) -> None:
    """Check that normals exist in the dtype."""
    check_normal(spec, 1.0)


rand, rand_like = sized(verify_uniform), like(verify_uniform)
randn, randn_like = sized(verify_normal), like(verify_normal)


@factory_rule
def randint(high: int, size: Any, *options: Any) -> Outputs:
    """`randint(high, size, ...)`; the kernel gets first value and count in place of `high`."""
    dtype, _, device, _ = options[-4:]
    spec = fresh(size, dtype or int64, device)
    return Outputs(spec, values=(integer_range(spec.dtype, 0, high), size, *options))


@factory_rule
def randint_low(low: int, high: int, size: Any, *options: Any) -> Outputs:
    """`randint(low, high, size, ...)`; the kernel gets first value and count in place of `low`."""
    dtype, _, device, _ = options[-4:]
    spec = fresh(size, dtype or int64, device)
    return Outputs(spec, values=(integer_range(spec.dtype, low, high), high, size, *options))


@rule
def randint_like(self: Spec, high: int, *options: Any) -> Outputs:
    """`randint_like(high)`; the kernel gets first value and count in place of `high`."""
    dtype, _, device, _, memory_format = options[-5:]
    spec = like_spec(self, dtype, device, memory_format)
    return Outputs(spec, values=(self, integer_range(spec.dtype, 0, high), *options))


@rule
def randint_like_low(self: Spec, low: int, high: int, *options: Any) -> Outputs:
    """`randint_like(low, high)`; the kernel gets first value and count in place of `low`."""
    dtype, _, device, _, memory_format = options[-5:]
    spec = like_spec(self, dtype, device, memory_format)
    return Outputs(spec, values=(self, integer_range(spec.dtype, low, high), high, *options))


@factory_rule
def randperm(n: int, *options: Any) -> Spec:
    """`randperm`: a permutation of `range(n)`."""
    dtype, _, device, _ = options[-4:]
    spec = fresh((n,), dtype or int64, device)
    check_permutation(spec.dtype, n)
    return spec


@factory_rule
def normal_sized(mean: float, std: float, size: Any, generator: object, *options: Any) -> Spec:
    """`normal(mean, std, size)`."""
    dtype, _, device, _ = options
    spec = fresh(size, dtype, device)
    check_normal(spec, std)
    return spec
