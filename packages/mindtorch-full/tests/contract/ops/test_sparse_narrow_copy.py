"""`narrow_copy` of sparse tensors beside torch: entries, sizes and refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch

import mindtorch

INDICES = [[0, 0, 1], [0, 1, 2]]


def outcome(library: ModuleType, values: list[Any], size: tuple[int, ...], arguments: tuple[int, int, int]) -> Any:
    given = library.sparse_coo_tensor(INDICES, library.tensor(values), size)
    try:
        made = library.narrow_copy(given, *arguments)
    except RuntimeError as error:
        return str(error)
    return made._indices().tolist(), made._values().tolist(), tuple(made.shape), str(made.dtype).partition(".")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        (0, 0, 1), (0, 1, 1), (1, 1, 2), (1, 3, 0), (0, 0, 0), (1, 0, 3),
        (1, -2, 2), (-1, 1, 2), (2, 0, 1), (0, 0, -1), (0, 1, 2), (1, 5, 0),
    ],
)  # fmt: skip
def test_sparse_dimensions(arguments: tuple[int, int, int]) -> None:
    given = ([1.0, 2.0, 3.0], (2, 3), arguments)
    assert outcome(mindtorch, *given) == outcome(torch, *given)


@pytest.mark.parametrize("arguments", [(2, 1, 1), (3, 0, 1), (0, 0, 1), (3, 1, 2), (4, 0, 1)])
def test_dense_dimensions(arguments: tuple[int, int, int]) -> None:
    values = [[[4 * entry, 4 * entry + 1], [4 * entry + 2, 4 * entry + 3]] for entry in range(3)]
    given = (values, (2, 3, 2, 2), arguments)
    assert outcome(mindtorch, *given) == outcome(torch, *given)
