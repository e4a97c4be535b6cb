"""`torch.sparse.spdiags` beside torch: values and refusals; the gradient that torch has not."""

from __future__ import annotations

import pytest
import torch

import mindtorch

CASES = [((3, 4), [0, -1, 2]), ((2, 2), [0, -1, 2]), ((5, 3), [-2, 1, 0])]


@pytest.mark.parametrize(("shape", "offsets"), CASES)
def test_indices_and_values_are_torchs(shape: tuple[int, int], offsets: list[int]) -> None:
    found = []
    for library in (torch, mindtorch):
        matrix = library.sparse.spdiags(library.arange(9.0).reshape(3, 3), library.tensor(offsets), shape)
        found.append(
            (matrix._indices().tolist(), matrix._values().tolist(), matrix.is_coalesced(), tuple(matrix.shape))
        )
    assert found[0] == found[1]


def test_what_is_placed_has_a_gradient_which_torch_does_not_offer() -> None:
    rows = mindtorch.arange(9.0).reshape(3, 3).requires_grad_()
    matrix = mindtorch.sparse.spdiags(rows, mindtorch.tensor([0, -1, 2]), (2, 2))
    (matrix.to_dense() ** 2).sum().backward()
    assert rows.grad.tolist() == [[0.0, 2.0, 0.0], [6.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("offsets", "shape", "layout"),
    [
        ([0, 0, 1], (3, 3), None),
        ([0, 1], (3, 3), None),
        ([0.0, 1.0, 2.0], (3, 3), None),
        ([[0, 1, 2]], (3, 3), None),
        ([0, 1, 2], (3,), None),
        ([0, 9, -9], (3, 3), None),
        ([0, 1, 2], (3, 3), "strided"),
    ],
)
def test_refusals_are_torchs(offsets: list[float], shape: tuple[int, ...], layout: str | None) -> None:
    texts = []
    for library in (torch, mindtorch):
        with pytest.raises(RuntimeError) as caught:
            library.sparse.spdiags(
                library.ones(3, 3), library.tensor(offsets), shape, None if layout is None else getattr(library, layout)
            )
        texts.append(str(caught.value).splitlines()[0])
    assert texts[0] == texts[1]
