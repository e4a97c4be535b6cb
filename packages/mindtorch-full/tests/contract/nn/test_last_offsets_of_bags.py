"""`embedding_bag` with `include_last_offset` beside torch: indices after the last offset are in no bag."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import mindtorch

OFFSETS = [[0, 1, 3], [0, 1, 1], [0, 4, 4], [0, 2, 4], [0, 0, 0]]


def bags(
    library: Any, offsets: list[int], mode: int, padding: int, weights: bool, dtype: str, transposed: bool
) -> list[Any]:
    table = library.arange(1.0, 9.0).reshape(4, 2).to(getattr(library, dtype))
    if transposed:
        table = table.t().contiguous().t()
    samples = library.tensor([1.0, 2.0, 3.0, 4.0], dtype=table.dtype) if weights else None
    out, numbers, sizes, largest = library.ops.aten._embedding_bag(
        table, library.tensor([0, 1, 2, 3]), library.tensor(offsets), False, mode, False, samples, True, padding
    )
    return [one.tolist() for one in (out, numbers, sizes, largest)]


@pytest.mark.parametrize("offsets", OFFSETS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("mode", "padding", "weights"),
    [(0, -1, False), (0, -1, True), (0, 3, False), (0, 3, True), (1, -1, False), (1, 0, False), (2, -1, False)],
)
def test_sums_and_sizes(
    offsets: list[int], transposed: bool, dtype: str, mode: int, padding: int, weights: bool
) -> None:
    if mode == 2 and offsets == [0, 0, 0]:
        pytest.skip("torch reads memory that it did not write for the empty bag's maximum")
    given = (offsets, mode, padding, weights, dtype, transposed)
    assert bags(mindtorch, *given) == bags(torch, *given)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_indices_of_no_bag_have_no_gradient(sparse: bool, weighted: bool) -> None:
    # torch reads memory behind the gradient for them.
    table = mindtorch.ones(4, 2, requires_grad=True)
    samples = mindtorch.ones(4, requires_grad=True) if weighted else None
    made = mindtorch.nn.functional.embedding_bag(
        mindtorch.tensor([0, 1, 2, 3]),
        table,
        mindtorch.tensor([0, 1, 3]),
        mode="sum",
        sparse=sparse,
        per_sample_weights=samples,
        include_last_offset=True,
    )
    made.sum().backward()
    grad = table.grad.to_dense() if sparse else table.grad
    assert grad.tolist() == [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    if samples is not None:
        assert samples.grad.tolist() == [2.0, 2.0, 2.0, 0.0]


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize("offsets", [[0, 1, 5], [0, 1, 2]])
def test_gradients_of_the_table(mode: str, transposed: bool, by_frequency: bool, offsets: list[int]) -> None:
    if offsets[-1] == 2 and mode == "sum" and not transposed:
        pytest.skip("torch reads memory behind the gradient")
    gradients = []
    for library in (mindtorch, torch):
        table = library.arange(12.0).reshape(4, 3).requires_grad_()
        made = library.nn.functional.embedding_bag(
            library.tensor([0, 1, 2, 1, 0]),
            table.t() if transposed else table,
            library.tensor(offsets),
            mode=mode,
            scale_grad_by_freq=by_frequency,
            include_last_offset=True,
        )
        made.square().sum().backward()
        gradients.append(table.grad.flatten().tolist())
    assert gradients[0] == pytest.approx(gradients[1])


def test_weights_that_lie_apart_are_added_in_another_way() -> None:
    for library in (mindtorch, torch):
        made = library.ops.aten._embedding_bag(
            library.arange(8.0).reshape(4, 2), library.tensor([0, 1, 2, 3]), library.tensor([0, 2]), False, 0, False,
            library.arange(8.0)[::2], True,
        )  # fmt: skip
        assert [one.tolist() for one in made] == [[[56.0, 68.0]], [0, 0, 0, 0], [0], [0]]
