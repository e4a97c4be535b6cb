"""Stride arithmetic against torch, on seeded random geometries."""

from __future__ import annotations

import random
from typing import Any

import pytest

from mindtorch_storage import strides

from .outcomes import assert_same, outcome

torch = pytest.importorskip("torch", reason="oracle")
SEED = 20_240_613


def random_shape(rng: random.Random, most: int = 5) -> list[int]:
    extents = (0, 1, 1, 2, 3, 4) if rng.random() < 0.25 else (1, 2, 3)
    return [rng.choice(extents) for _ in range(rng.randrange(most + 1))]


def random_layout(rng: random.Random, shape: list[int]) -> Any:
    """A tensor of this shape: contiguous, permuted, sliced, or with arbitrary strides."""
    kind = rng.randrange(4)
    if kind == 0 or not shape:
        return torch.empty(shape)
    order = list(range(len(shape)))
    rng.shuffle(order)
    tensor = torch.empty([shape[dim] for dim in order]).permute([order.index(dim) for dim in range(len(shape))])
    if kind == 2:
        dim = rng.randrange(len(shape))
        longer = [extent * 2 if d == dim else extent for d, extent in enumerate(shape)]
        return torch.empty(longer)[tuple(slice(0, None, 2 if d == dim else 1) for d in range(len(shape)))]
    if kind == 3:
        return torch.empty_strided(shape, [rng.choice((0, 1, 2, 3, 4, 6, 12)) for _ in shape])
    return tensor


def geometries(count: int, most: int = 5) -> Any:
    rng = random.Random(SEED)
    for _ in range(count):
        yield rng, random_layout(rng, random_shape(rng, most))


def test_contiguity() -> None:
    for _, tensor in geometries(3000):
        shape, steps = tuple(tensor.shape), tensor.stride()
        assert strides.is_contiguous(shape, steps) == tensor.is_contiguous(), (shape, steps)
        assert strides.contiguous_strides(shape) == torch.empty(shape).stride()
        assert strides.is_non_overlapping_and_dense(shape, steps) == torch.ops.aten.is_non_overlapping_and_dense(tensor)
        assert strides.preserved_strides(shape, steps) == torch.empty_like(tensor).stride(), (shape, steps)
        if tensor.dim() == 4:
            mine = strides.is_channels_last_contiguous(shape, steps)
            assert mine == tensor.is_contiguous(memory_format=torch.channels_last)
        if tensor.dim() == 5:
            mine = strides.is_channels_last_3d_contiguous(shape, steps)
            assert mine == tensor.is_contiguous(memory_format=torch.channels_last_3d)


def test_channels_last() -> None:
    rng = random.Random(SEED)
    for _ in range(200):
        shape = [rng.randrange(4) for _ in range(5)]
        theirs = torch.empty(shape[:4], memory_format=torch.channels_last).stride()
        assert strides.channels_last_strides(shape[:4]) == theirs
        assert (
            strides.channels_last_3d_strides(shape) == torch.empty(shape, memory_format=torch.channels_last_3d).stride()
        )
    assert_same(
        lambda: strides.channels_last_strides([2, 3]), lambda: torch.empty([2, 3], memory_format=torch.channels_last)
    )
    assert_same(
        lambda: strides.channels_last_3d_strides([2, 3]),
        lambda: torch.empty([2, 3], memory_format=torch.channels_last_3d),
    )


def test_memory_span_is_the_smallest_storage() -> None:
    for rng, tensor in geometries(500):
        offset = rng.randrange(3)
        span = strides.memory_span(tensor.shape, tensor.stride(), offset)
        bases = [torch.empty(count) for count in (span, max(span - 1, 0))]
        results = [outcome(lambda: base.as_strided(tensor.shape, tensor.stride(), offset).shape) for base in bases]  # noqa: B023
        assert results[0][0] == "value"
        assert span == 0 or results[1][0] == "RuntimeError"


def test_broadcasting() -> None:
    rng = random.Random(SEED)
    for _ in range(2000):
        left, right = (tuple(rng.choice((0, 1, 1, 2, 3)) for _ in range(rng.randrange(4))) for _ in range(2))
        assert_same(
            lambda: strides.broadcast_shapes(left, right),  # noqa: B023
            lambda: tuple((torch.empty(left) + torch.empty(right)).shape),  # noqa: B023
        )


def test_view_strides() -> None:
    rng = random.Random(SEED)
    compared = 0
    for _, tensor in geometries(3000):
        pieces = [rng.choice((1, 2, 3, 4, 6)) for _ in range(rng.randrange(5))]
        target = pieces if rng.random() < 0.5 else [*pieces, -1]
        rng.shuffle(target)
        theirs = outcome(lambda: tensor.view(target).stride())  # noqa: B023
        mine = outcome(lambda: view(tensor, target))  # noqa: B023
        assert mine == theirs, (tensor.shape, tensor.stride(), target)
        compared += theirs[0] == "value"
    assert compared > 300


def view(tensor: Any, target: list[int]) -> tuple[int, ...]:
    shape = strides.infer_size(target, tensor.numel())
    found = strides.view_strides(tuple(tensor.shape), tensor.stride(), shape)
    if found is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
            "two contiguous subspaces). Use .reshape(...) instead."
        )
    return found


@pytest.mark.parametrize("target", [[-1, -1], [-2, 3], [0, -1], [5], [2, -1], [], [-1, 0], [7, -1]])
@pytest.mark.parametrize("shape", [[0, 3], [2, 3], []])
def test_infer_size_texts(shape: list[int], target: list[int]) -> None:
    assert_same(
        lambda: strides.infer_size(target, strides.numel(shape)), lambda: tuple(torch.empty(shape).view(target).shape)
    )


def test_elementwise_strides() -> None:
    ops = {1: torch.neg, 2: torch.add, 3: torch.addcmul}
    rng = random.Random(SEED)
    for _ in range(4000):
        shape = random_shape(rng)
        tensors = []
        for _ in range(rng.choice((1, 2, 2, 3))):
            partial = [extent if rng.random() < 0.8 else 1 for extent in shape]
            cut = min(len(partial), rng.choice((0, 0, 0, 0, 1, 2)))
            tensors.append(random_layout(rng, partial[cut:]))
        result = ops[len(tensors)](*tensors)
        operands = [(tuple(tensor.shape), tensor.stride()) for tensor in tensors]
        mine = strides.broadcast_shapes(*(shape for shape, _ in operands))
        assert mine == tuple(result.shape)
        assert strides.elementwise_strides(mine, operands) == result.stride(), operands


def test_python_number_counts_as_an_operand() -> None:
    for _, tensor in geometries(1000):
        mine = strides.elementwise_strides(tuple(tensor.shape), [(tuple(tensor.shape), tensor.stride()), ((), ())])
        assert mine == (tensor + 1).stride()


def test_suggested_memory_format() -> None:
    # clone() of a non-dense tensor asks the same question of upsampling kernels; conv is where it shows.
    pool = torch.nn.functional.max_pool2d
    rng = random.Random(SEED)
    for _ in range(300):
        tensor = random_layout(rng, [rng.choice((1, 2, 3)) for _ in range(4)])
        last = strides.suggests_channels_last(tensor.shape, tensor.stride())
        result = pool(tensor, 1)
        expected = strides.channels_last_strides(tensor.shape) if last else strides.contiguous_strides(tensor.shape)
        assert result.stride() == expected, (tensor.shape, tensor.stride())


def test_internal_overlap_is_what_in_place_ops_refuse() -> None:
    for _, tensor in geometries(500):
        refused = outcome(lambda: tensor.fill_(0) and None)[0] == "RuntimeError"  # noqa: B023
        if strides.has_internal_overlap(tensor.shape, tensor.stride()) and tensor.numel() > 0:
            assert refused, (tensor.shape, tensor.stride())
