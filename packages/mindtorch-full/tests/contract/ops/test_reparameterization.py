"""Dirichlet draws are torch's; the derivatives of drawn numbers are those of the quantile, as torch's nearly are."""

import numpy as np
import pytest
from scipy import special

import mindtorch as mt
from mindtorch_testing import assert_torch_error
from mindtorch_testing.convert import Converter

torch = pytest.importorskip("torch", reason="oracle")

STEP = 1e-5


def _both(call, *values):
    """Return torch's result and ours, both as torch's tensors, of calls under one seed."""
    converter = Converter(mt)
    torch.manual_seed(11)
    expected = call(torch, *values)
    mt.manual_seed(11)
    return expected, converter.to_oracle(call(mt, *map(converter.to_target, values)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-4, 0.01, 1.0, 30.0])
def test_dirichlet_draws(dtype, scale):
    generator = torch.Generator().manual_seed(2)
    for given in (
        (torch.rand(40, 3, generator=generator) * scale).to(dtype),
        (torch.rand(3, 40, generator=generator) * scale).to(dtype).t(),
        torch.full((5,), scale, dtype=dtype),
        torch.full((2, 1), scale, dtype=dtype).expand(2, 4),
        torch.tensor(scale, dtype=dtype),
    ):
        expected, ours = _both(lambda lib, value: lib._sample_dirichlet(value), given)
        # The sum that divides may differ in float64's last bit, by the order of its terms.
        torch.testing.assert_close(ours, expected, rtol=0 if dtype is torch.float32 else 4e-16, atol=0)
        assert expected.stride() == ours.stride()


@pytest.mark.parametrize(("low", "high"), [(-2, -1), (-1, 0), (0, 1), (1, 3)])
def test_gamma_derivative(low, high):
    random = np.random.default_rng(0)
    shape = 10 ** random.uniform(low, high, 100)
    quantile = random.uniform(0.01, 0.9, 100)
    drawn = special.gammaincinv(shape, quantile)
    expected, ours = _both(lambda lib, a, x: lib._standard_gamma_grad(a, x), *map(torch.tensor, (shape, drawn)))
    assert torch.allclose(expected, ours, rtol=2e-3, atol=0)
    above, below = (special.gammaincinv(shape * (1 + h), quantile) for h in (STEP, -STEP))
    np.testing.assert_allclose(ours.numpy(), (above - below) / (2 * STEP * shape), rtol=1e-4)


@pytest.mark.parametrize(("low", "high"), [(-1, 0), (0, 1), (1, 3)])
def test_dirichlet_derivative(low, high):
    random = np.random.default_rng(0)
    first, second = (10 ** random.uniform(low, high, 100) for _ in range(2))
    drawn = np.clip(special.betaincinv(first, second, random.uniform(0.01, 0.9, 100)), 1e-12, 1 - 1e-6)
    quantile = special.betainc(first, second, drawn)
    values = map(torch.tensor, (drawn, first, first + second))
    expected, ours = _both(lambda lib, x, a, total: lib._dirichlet_grad(x, a, total), *values)
    assert torch.allclose(expected, ours, rtol=2e-3, atol=0)
    above, below = (special.betaincinv(first * (1 + h), second, quantile) for h in (STEP, -STEP))
    np.testing.assert_allclose(ours.numpy(), (above - below) / (2 * STEP * first) / (1 - drawn), rtol=1e-4)


LAWS = {
    "Gamma": lambda lib, a: lib.distributions.Gamma(a, 2.0),
    "Dirichlet": lambda lib, a: lib.distributions.Dirichlet(a),
    "Beta": lambda lib, a: lib.distributions.Beta(a, a + 1),
    "StudentT": lambda lib, a: lib.distributions.StudentT(a + 2),
}


@pytest.mark.parametrize("law", LAWS)
def test_gradients_flow_through_samples(law):
    def call(lib, given):
        given.requires_grad_(True)
        sample = LAWS[law](lib, given).rsample((3,))
        (sample * lib.arange(1.0, sample.numel() + 1).view(sample.shape)).sum().backward()
        return given.grad

    expected, ours = _both(call, torch.tensor([0.3, 1.5, 4.0]))
    assert torch.allclose(expected, ours, rtol=2e-3, atol=1e-4)


WRONG = {
    "integers": lambda lib: lib._sample_dirichlet(lib.ones(3).long()),
    "half": lambda lib: lib._sample_dirichlet(lib.ones(3).half()),
    "gradient of the op": lambda lib: lib._sample_dirichlet(lib.ones(2, requires_grad=True)).sum().backward(),
    "gamma of integers": lambda lib: lib._standard_gamma_grad(lib.ones(3).long(), lib.ones(3).long()),
    "two dtypes": lambda lib: lib._standard_gamma_grad(lib.ones(3), lib.ones(3).double()),
    "two dtypes of three": lambda lib: lib._dirichlet_grad(lib.ones(3).double(), lib.ones(3), lib.ones(3)),
    "half gradients": lambda lib: lib._dirichlet_grad(lib.ones(3).half(), lib.ones(3).half(), lib.ones(3).half()),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(case):
    assert_torch_error(lambda: WRONG[case](mt), lambda: WRONG[case](torch))
