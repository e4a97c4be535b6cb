"""Gradients of convolutions lie in memory as torch's do: in channels-last where the input or the weight does."""

import itertools

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

SHAPES = {
    "plain": ((2, 4, 6, 6), (6, 4, 3, 3), 1, False),
    "depthwise": ((2, 4, 6, 6), (8, 1, 3, 3), 4, False),
    "grouped": ((2, 4, 6, 6), (8, 2, 3, 3), 2, False),
    "transposed": ((2, 4, 6, 6), (4, 6, 3, 3), 1, True),
    "pointwise": ((2, 4, 6, 6), (6, 4, 1, 1), 1, False),
    "volumes": ((2, 3, 5, 5, 5), (4, 3, 2, 2, 2), 1, False),
    "transposed volumes": ((2, 3, 5, 5, 5), (3, 4, 2, 2, 2), 1, True),
}


def gradients(T, shape, dtype, formats):
    sizes, kernel, groups, transposed = shape
    dims = len(sizes) - 2
    last = T.channels_last if dims == 2 else T.channels_last_3d
    x, weight = (T.linspace(-1, 1, T.Size(one).numel()).reshape(one).to(getattr(T, dtype)) for one in (sizes, kernel))
    x, weight = (
        one.contiguous(memory_format=last) if wanted else one for one, wanted in zip((x, weight), formats, strict=True)
    )
    settings = [1] * dims, [0] * dims, [1] * dims, transposed, [0] * dims, groups
    y = T.ops.aten.convolution(x, weight, None, *settings)
    found = T.ops.aten.convolution_backward(T.ones_like(y), x, weight, None, *settings, [True, True, False])
    return [(one.stride(), one.double().tolist()) for one in (y, *found[:2])]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_they_lie_as_torchs_do(shape, dtype):
    for formats in itertools.product((False, True), repeat=2):
        ours, theirs = (gradients(T, shape, dtype, formats) for T in (mt, torch))
        assert [strides for strides, _ in ours] == [strides for strides, _ in theirs], formats
        for (_, found), (_, expected) in zip(ours, theirs, strict=True):
            torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:Complex modules are a new feature:UserWarning")
@pytest.mark.parametrize("name", ["Conv2d", "ConvTranspose2d"])
def test_gradients_of_complex_numbers_are_contiguous(name):
    found = []
    for T in (mt, torch):
        module = getattr(T.nn, name)(3, 4, 3).to(T.complex64).to(memory_format=T.channels_last)
        x = T.ones(1, 3, 7, 6, dtype=T.complex64).contiguous(memory_format=T.channels_last).requires_grad_()
        y = module(x)
        found.append([one.stride() for one in (y, *T.autograd.grad(y, (x, module.weight), T.ones_like(y)))])
    assert found[0] == found[1]
