"""Quantized tensors in all layouts beside torch: the integers, and where they lie in memory."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch  # noqa: E402
from mindtorch_dispatch.quantized import rounding  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

BOTH = (torch, mindtorch)
LAYOUTS = {
    "rows": lambda q: q,
    "last": lambda q: q.contiguous(memory_format=channels_last(q)),
    "permuted": lambda q: q.transpose(1, 3),
}


def channels_last(q):
    return torch.channels_last if isinstance(q, torch.Tensor) else mindtorch.channels_last


def numbers(*shape, scale=3.0, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def same(ours, theirs):
    """Compare what both made: elements, shape and strides."""
    if ours.is_quantized:
        assert tuple(ours.stride()) == tuple(theirs.stride())
        ours, theirs = ours.int_repr(), theirs.int_repr()
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    assert (tuple(ours.shape), tuple(ours.stride())) == (tuple(theirs.shape), tuple(theirs.stride()))


@pytest.mark.parametrize("operator", ["add", "add_relu", "mul", "mul_relu"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_and_products(layout, operator):
    found = []
    for module in BOTH:
        pair = [
            LAYOUTS[layout](
                module.quantize_per_tensor(module.tensor(numbers(2, 16, 9, 7, seed=seed)), 0.05, 100, module.quint8)
            )
            for seed in (1, 2)
        ]
        found.append(getattr(module.ops.quantized, operator)(*pair, 0.11, 120))
    same(found[1], found[0])


@pytest.mark.parametrize("operator", ["add", "mul"])
@pytest.mark.parametrize(
    "shapes",
    [((4, 70), (70,)), ((70,), (4, 70)), ((3, 5, 40), (1, 5, 40)), ((6, 65), (6, 1)), ((), ()), ((0, 3), (0, 3))],
)
def test_shapes_that_broadcast(shapes, operator):
    found = []
    for module in BOTH:
        pair = [
            module.quantize_per_tensor(module.tensor(numbers(*shape, seed=seed)), 0.05, 100, module.quint8)
            for seed, shape in enumerate(shapes)
        ]
        found.append(getattr(module.ops.quantized, operator)(*pair, 0.11, 120))
    same(found[1], found[0])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_numbers_keep_the_format_and_not_the_order(layout):
    found = []
    for module in BOTH:
        x = LAYOUTS[layout](module.tensor(numbers(2, 6, 5, 4)))
        q = module.quantize_per_tensor(x, 0.1, 3, module.qint8)
        found.append((q, q.dequantize(), LAYOUTS[layout](q).dequantize()))
    for ours, theirs in zip(*reversed(found), strict=True):
        same(ours, theirs)


def test_integers_of_32_bits_wrap():
    made = [
        module.quantize_per_tensor(module.tensor([float("nan"), -float("inf"), float("inf")]), 0.05, 7, module.qint32)
        for module in BOTH
    ]
    same(made[1], made[0])
    same(made[1].dequantize(), made[0].dequantize())


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("engine", ["x86", "fbgemm", "onednn"])
@pytest.mark.parametrize(("rows", "depth", "features"), [((3,), 17, 9), ((2, 5), 300, 33), ((40,), 1024, 70)])
def test_rows_by_a_weight(rows, depth, features, engine, by_channel):
    scales = np.random.default_rng(5).uniform(0.001, 0.02, features)
    for zero_point, relu in itertools.product((0,) if engine == "onednn" else (0, 3), ("", "_relu")):
        found = []
        for module in BOTH:
            before, module.backends.quantized.engine = module.backends.quantized.engine, engine
            try:
                weight = module.tensor(numbers(features, depth, scale=0.3))
                points = module.arange(features) % (zero_point + 1)
                kept = (
                    module.quantize_per_channel(weight, module.tensor(scales), points, 0, module.qint8)
                    if by_channel
                    else module.quantize_per_tensor(weight, 0.01, zero_point, module.qint8)
                )
                packed = module.ops.quantized.linear_prepack(kept, module.tensor(numbers(features)))
                q = module.quantize_per_tensor(module.tensor(numbers(*rows, depth)), 0.06, 101, module.quint8)
                found.append(getattr(module.ops.quantized, f"linear{relu}")(q, packed, 0.3, 90))
            finally:
                module.backends.quantized.engine = before
        same(found[1], found[0])


CONVOLUTIONS = [
    # input, output channels, kernel, stride, padding, dilation
    ((2, 8, 9, 7), 8, (3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 3, 16, 16), 5, (5, 3), (2, 1), (2, 0), (1, 2)),
    ((2, 16, 5, 5), 16, (1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 64, 8, 8), 1, (3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 4, 20), 6, (3,), (2,), (1,), (1,)),
    ((1, 4, 5, 6, 7), 6, (2, 3, 2), (1, 1, 2), (1, 1, 0), (1, 1, 1)),
]


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("engine", ["x86", "fbgemm", "onednn"])
@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_convolutions(convolution, engine, by_channel):
    shape, features, kernel, *steps = convolution
    rank, scales = len(kernel), np.random.default_rng(5).uniform(0.001, 0.02, features)
    found = []
    for module in BOTH:
        before, module.backends.quantized.engine = module.backends.quantized.engine, engine
        try:
            weight = module.tensor(numbers(features, shape[1], *kernel, scale=0.3))
            zeros = module.zeros(features, dtype=module.long)
            kept = (
                module.quantize_per_channel(weight, module.tensor(scales), zeros, 0, module.qint8)
                if by_channel
                else module.quantize_per_tensor(weight, 0.01, 0, module.qint8)
            )
            prepack = getattr(module.ops.quantized, f"conv{rank}d_prepack")
            packed = prepack(kept, module.tensor(numbers(features)), *map(list, steps), 1)
            q = module.quantize_per_tensor(module.tensor(numbers(*shape)), 0.06, 101, module.quint8)
            found.append(getattr(module.ops.quantized, f"conv{rank}d")(q, packed, 0.3, 90))
        finally:
            module.backends.quantized.engine = before
    same(found[1], found[0])


@pytest.mark.parametrize("kind", ["quint8", "qint8", "qint32"])
def test_what_levels_and_numbers_are_composed_of_has_their_bits(kind):
    dtype = getattr(mindtorch, kind)
    x = mindtorch.tensor([*numbers(50).tolist(), float("nan"), float("inf"), -float("inf"), 0.025, 0.075])
    levels = mindtorch.ops.quantized._levels(x, 0.05, 7, dtype)
    same(rounding.composed_levels(x, 0.05, 7, dtype), levels)
    same(rounding.composed_numbers(levels, 0.05, 7), mindtorch.ops.quantized._numbers(levels, 0.05, 7))
