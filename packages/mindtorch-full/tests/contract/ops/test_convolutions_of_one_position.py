"""Convolutions whose windows stand in few places, or in one that leaves out most of the input: values and gradients."""

import itertools

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

CASES = [
    (dims, extent, kernel, stride, padding)
    for dims, extent, kernel, stride, padding in itertools.product(
        (1, 2, 3), (1, 2, 3, 4), (1, 2, 3), (1, 2, 3), (0, 1)
    )
    if extent + 2 * padding >= kernel
]


def outcome(t, kind, case):
    """The result and the gradients of a convolution, as lists."""
    dims, extent, kernel, stride, padding = case
    t.manual_seed(0)
    layer = getattr(t.nn, f"{kind}{dims}d")(4, 6, kernel, stride=stride, padding=padding, groups=2, dtype=t.float64)
    x = t.randn(2, 4, *[extent] * dims, dtype=t.float64, requires_grad=True)
    result = layer(x)
    result.square().sum().backward()
    return [one.detach().tolist() for one in (result, x.grad, layer.weight.grad, layer.bias.grad)]


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_they_give_what_torch_gives(kind, dims):
    for case in CASES:
        if case[0] != dims or (kind == "ConvTranspose" and case[4]):
            continue
        for ours, theirs in zip(outcome(mt, kind, case), outcome(torch, kind, case), strict=True):
            found, expected = torch.tensor(ours), torch.tensor(theirs)
            assert torch.allclose(found, expected, rtol=1e-9, atol=1e-9), case
