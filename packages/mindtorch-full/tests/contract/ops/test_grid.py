"""Coordinates of triangles and combinations where op_db does not look: no rows, no columns, far diagonals, many elements."""

import pytest

from .expressions import agrees

EXPRESSIONS = [
    *(
        f"t.{name}({rows}, {columns}, {offset})"
        for name in ("tril_indices", "triu_indices")
        for rows, columns in ((0, 3), (3, 0), (1, 5), (4, 6), (5, 3))
        for offset in (-7, -2, 0, 1, 7)
    ),
    *(
        f"t.combinations(t.arange({count}) * 1.5, {many}, {again})"
        for count in (0, 1, 5)
        for many in (0, 1, 2, 3, 6)
        for again in (False, True)
    ),
    "t.bincount(t.tensor([1, -2]))",
    "t.bincount(t.tensor([1, 3, 3]), t.tensor([0.5, 1.0, 2.0]), 6)",
    "t.unique_consecutive(t.tensor([1, 1, 2, 2, 1]))",
    "t.unique_consecutive(t.tensor([1, 1, 2, 2, 1]), True, True)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_agrees(expression):
    agrees(expression)
