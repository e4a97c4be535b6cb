"""Points that are no numbers, bags that begin nowhere, and random numbers drawn into a given layout."""

from __future__ import annotations

import pytest

from .expressions import agrees

NAN, INF = "float('nan')", "float('inf')"

SAMPLED = [
    f"t.nn.functional.grid_sample(t.arange({count}.0, dtype=t.{dtype}).reshape({shape}), "
    f"t.full(({grid}), {place}, dtype=t.{dtype}), mode={mode!r}, padding_mode={padding!r}, align_corners=False)"
    for count, shape, grid, modes in (
        (16, "1, 1, 4, 4", "1, 1, 1, 2", ("bilinear", "nearest", "bicubic")),
        (8, "1, 1, 2, 2, 2", "1, 1, 1, 1, 3", ("bilinear",)),
    )
    for dtype in ("float32", "float64")
    for place in (NAN, INF, "1e30")
    for mode in modes
    for padding in ("zeros", "border")
]

SAMPLED.append(
    "t.nn.functional.grid_sample(t.arange(32.0).reshape(1, 2, 4, 4), "
    f"t.tensor([[[[{NAN}, 0.0], [0.0, 0.0], [{INF}, -{INF}], [0.5, {NAN}]]]]), align_corners=False)"
)

BAGS = [
    f"t.nn.functional.embedding_bag(t.tensor({indices}), t.ones(3, 3), t.tensor({offsets}), mode={mode!r})"
    for indices, offsets, modes in (
        ("[0, 1]", "[0, -1]", ("mean", "max")),
        ("[0, 1]", "[0, 1, -1]", ("mean",)),
        ("[0, 1]", "[0, -2**63]", ("mean",)),
        ("[0, 1]", "[-1, 0]", ("mean", "sum", "max")),
        ("[0, 1]", "[1, 0]", ("mean", "sum", "max")),
        ("[0, 1]", "[0, 3]", ("mean", "sum", "max")),
        ("[0, -7]", "[0]", ("mean", "max")),
        ("[0, 7]", "[0]", ("mean", "sum", "max")),
    )
    for mode in modes
]

DRAWN = [
    f"(t.manual_seed(3), {call})[1]"
    for call in (
        "t.normal(t.zeros(2, 3), t.ones(2, 3), out=t.empty(3, 2).t())",
        "t.normal(t.zeros(4, 5), t.ones(5), out=t.empty(5, 4).t())",
        "t.normal(t.ones(4, 5), 2.0, out=t.empty(5, 4).t())",
        "t.normal(1.0, t.ones(4, 5), out=t.empty(5, 4).t())",
        "t.normal(t.zeros(4, 5), t.ones(5), out=t.empty(0))",
        "t.normal(t.zeros(4, 5).t(), t.ones(5, 4))",
        "t.normal(t.zeros(20), t.ones(20), out=t.empty(20, dtype=t.float64))",
        "t.normal(t.zeros(20), t.ones(20), out=t.empty(20, dtype=t.int64))",
        "t.normal(t.zeros(20, requires_grad=True), 1.0, out=t.empty(20))",
        "t.normal(t.zeros(20), -t.ones(20))",
        "t.normal(t.zeros(2), t.ones(3))",
    )
]


@pytest.mark.parametrize("expression", [*SAMPLED, *BAGS, *DRAWN])
def test_like_torch(expression: str) -> None:
    agrees(expression)


def test_lanczos_has_no_corners() -> None:
    agrees(
        "t.nn.functional.interpolate(t.ones(1, 1, 4, 4), size=2, mode='lanczos', antialias=True, align_corners=True)"
    )
