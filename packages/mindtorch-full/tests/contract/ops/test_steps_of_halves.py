"""Functions that torch computes in halves step by step, each step rounded: the same bits, not only close ones."""

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

HALVES = ["float16", "bfloat16"]


def operands(T, dtype):
    generator = torch.Generator().manual_seed(0)
    wide = torch.empty(4000).uniform_(-100, 100, generator=generator)
    positive = torch.empty(4000).uniform_(0.01, 100, generator=generator)
    return [T.tensor(one.numpy()).to(getattr(T, dtype)) for one in (wide, positive)]


def same_bits(function, dtype):
    ours, theirs = function(mt, *operands(mt, dtype)), function(torch, *operands(torch, dtype))
    assert str(ours.dtype) == str(theirs.dtype)
    assert torch.equal(torch.tensor(ours.float().numpy()).nan_to_num(7e9), theirs.float().nan_to_num(7e9))


STEPS = {
    "floor_divide": lambda T, x, y: T.floor_divide(x, y),
    "floor_divide by a number": lambda T, x, y: T.div(x, 0.37, rounding_mode="floor"),
    "a number divided": lambda T, x, y: T.div(7, x, rounding_mode="floor"),
    "xlogy": lambda T, x, y: T.xlogy(x, y),
    "xlogy of a number": lambda T, x, y: T.xlogy(2.5, y),
    "xlogy at zeros": lambda T, x, y: T.xlogy(x * 0, T.where(y > 50, y, y * 0)),
    "xlog1py": lambda T, x, y: T.special.xlog1py(x, y),
    "kl_div": lambda T, x, y: T.nn.functional.kl_div(x / 20, y / 100, reduction="none"),
    "cross entropy of logits": lambda T, x, y: T.nn.functional.binary_cross_entropy_with_logits(
        x / 20, y / 100, reduction="none"
    ),
    "weighted cross entropy of logits": lambda T, x, y: T.nn.functional.binary_cross_entropy_with_logits(
        x / 20, y / 100, weight=y / 10, pos_weight=y / 50, reduction="none"
    ),
    "linspace": lambda T, x, y: T.linspace(-5, 9, 1000, dtype=x.dtype),
    "linspace of one": lambda T, x, y: T.linspace(3.3, 9, 1, dtype=x.dtype),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", list(STEPS))
def test_every_step_is_rounded(name, dtype):
    same_bits(STEPS[name], dtype)


NUMBERS = {
    "mul": lambda T, x, s: x * s,
    "mul from the left": lambda T, x, s: s * x,
    "div": lambda T, x, s: x / s,
    "div from the left": lambda T, x, s: s / x,
    "in place": lambda T, x, s: x.clone().mul_(s).div_(s).add_(s, alpha=2),
    "add": lambda T, x, s: x + s,
    "sub from the left": lambda T, x, s: s - x,
    "trunc": lambda T, x, s: T.div(x, s, rounding_mode="trunc"),
    "floor": lambda T, x, s: T.div(x, s, rounding_mode="floor"),
    "floor from the left": lambda T, x, s: T.div(s, x, rounding_mode="floor"),
    "remainder": lambda T, x, s: T.remainder(x, s),
    "fmod": lambda T, x, s: T.fmod(x, s),
    "pow": lambda T, x, s: T.pow(x.abs(), s),
    "hypot": lambda T, x, s: T.hypot(x, s),
    "xlogy": lambda T, x, s: T.xlogy(x, s.abs()),
    "less": lambda T, x, s: x < s,
    "addcmul": lambda T, x, s: T.addcmul(x, x, s),
    "where": lambda T, x, s: T.where(x > 0, x, s),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("name", list(NUMBERS))
def test_a_tensor_of_one_number_beside_halves(name, wide, dtype):
    for value in (0.1, -0.37, 7.7):
        same_bits(lambda T, x, y, value=value: NUMBERS[name](T, x, T.tensor(value, dtype=getattr(T, wide))), dtype)


SIZES = [
    ((1, 2, 20, 30), (41, 77), "bilinear"),
    ((1, 2, 20, 30), (90, 77), "bilinear"),
    ((1, 5, 20, 30), (90, 77), "bilinear"),
    ((2, 5, 20, 30), (9, 7), "bicubic"),
    ((2, 3, 40), (77,), "linear"),
    ((1, 2, 8, 9, 10), (20, 30, 40), "trilinear"),
]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(("shape", "size", "mode"), SIZES)
def test_weights_of_resized_images(shape, size, mode, channels_last, dtype):
    """Weights are halves or not, as on torch's paths; sums of products in another order may differ in the last bit."""
    results = []
    for T in (torch, mt):
        x = T.tensor(torch.randn(shape, generator=torch.Generator().manual_seed(0)).numpy()).to(getattr(T, dtype))
        if channels_last and len(shape) == 4:
            x = x.contiguous(memory_format=T.channels_last)
        results.append(T.nn.functional.interpolate(x, size=size, mode=mode, align_corners=False).float().numpy())
    assert (results[0] != results[1]).mean() < 1e-3
