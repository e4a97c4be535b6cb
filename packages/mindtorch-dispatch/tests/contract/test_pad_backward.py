"""Gradients of padding: what torch refuses is refused in its words, and shapes that do not fit crash nothing."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")
mindtorch = pytest.importorskip("mindtorch", reason="the assembled surface")

CASES = [(mode, dims) for mode in ("replication", "reflection") for dims in (1, 2, 3)]


def shape(ndim, dims, extent):
    return (2,) * (ndim - dims) + (extent,) * dims if ndim >= dims else (extent,) * ndim


def outcome(T, mode, dims, gradient, input, padding):
    backward = getattr(T.ops.aten, f"{mode}_pad{dims}d_backward")
    try:
        return tuple(backward(T.ones(gradient), T.ones(input), padding).shape)
    except (RuntimeError, IndexError) as error:
        return type(error).__name__, str(error).split("\nException raised")[0]


@pytest.mark.parametrize(("mode", "dims"), CASES)
def test_shapes(mode, dims):
    for ndim in range(7):
        for gradient in {ndim, ndim + 1, max(ndim - 1, 0)}:
            for extent in (5, 4):
                call = mode, dims, shape(gradient, dims, extent), shape(ndim, dims, 3), [1] * (2 * dims)
                assert outcome(mindtorch, *call) == outcome(torch, *call), call


@pytest.mark.parametrize(("mode", "dims"), CASES)
def test_what_torch_does_not_look_at(mode, dims):
    # torch reads the gradient as if the batch were the input's.
    gradient, input = shape(dims + 2, dims, 5), (3, 2, *(3,) * dims)
    kind, text = outcome(mindtorch, mode, dims, gradient, input, [1] * (2 * dims))
    assert kind == "RuntimeError"
    assert f"{mode}_pad{dims}d_backward: a gradient of shape" in text


def test_many_dimensions():
    empty = mindtorch.ones([0] + [1] * 39)
    with pytest.raises(RuntimeError, match="gradOutput width unexpected"):
        mindtorch.ops.aten.replication_pad1d_backward.grad_input(empty, empty, [4, 3], grad_input=mindtorch.ones(0))
