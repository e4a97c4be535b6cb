"""Values next to poles, at bounds that cross, of what is not finite, and of views into larger memory."""

from __future__ import annotations

import pytest

from .expressions import agrees

INF, NAN = "float('inf')", "float('nan')"

POLES = [
    *(
        f"t.polygamma(1, t.tensor([-1.0, -2.0, -10.0, -0.5, 0.0, 0.3, 3.0, 1e30, -1e10, {INF}, -{INF}, {NAN}]).to(t.{dtype}))"
        for dtype in ("float32", "bfloat16", "float16")
    ),
    "t.polygamma(1, t.tensor([-1.0, -2.0, 0.0, 0.3, 40.0], dtype=t.float64))",
    "t.polygamma(1, t.tensor([-1, -2, -3, 0, 5]))",
]

CROSSED = [
    *(f"t.logit(t.tensor([0.0, 0.5, 1.0, 2.0, -1.0, {NAN}]), {eps})" for eps in (NAN, "0.7", "0.1", "0.0", "-1.0")),
    *(
        f"t.{name}(t.arange(30).reshape(2, 3, 5){layout}, {diagonal})"
        for name in ("triu", "tril")
        for layout in ("", ".mT")
        for diagonal in ("2**63 - 1", "-2**63", "2**62", "-2**62", "5", "-5", "4", "-4")
    ),
    "t.cosine_similarity(v, v, 0, -0.5)",
    "t.cosine_similarity(v, i, 0, -1e-20)",
    "t.ops.aten.native_layer_norm(t.ones(2, 0), [0], t.empty(0), None, 0.0)",
    "t.ops.aten.native_layer_norm(e, [0], None, None, 1e-5)",
]

COMPLEX_ZEROS = [
    f"t.pow({base}, {exponent})"
    for base in ("t.zeros(2, dtype=t.complex64)", "t.tensor(0j)", "0j")
    for exponent in ("t.tensor(0j)", "t.tensor([0j, -1 + 0j, 1j])[:2]", "-1.5", "0", "-1j", "-2 + 0j")
    if not (base == "0j" and "t." not in exponent)
]

NOT_FINITE = [
    f"t.matrix_exp(t.tensor({matrix}))"
    for matrix in (
        f"[[{NAN}, 0.0], [0.0, 1.0]]",
        f"[[{INF}, 0.0], [0.0, 0.0]]",
        f"[[-{INF}, 0.0], [0.0, 1.0]]",
        f"[[{INF}]]",
        f"[[-{INF}]]",
        f"[[[1.0, 2.0], [0.0, 1.0]], [[{NAN}, 1.0], [1.0, 1.0]]]",
    )
]

MIXED = [
    f"t.cosine_similarity(t.tensor([[1.0, 3.0]]).to(t.{one}), t.tensor([1.0, 0.7]).to(t.{other}))"
    for one in ("float32", "bfloat16", "float64", "int64")
    for other in ("float32", "float16", "bfloat16")
]

SCATTERED = [
    f"[(r.stride(), r.storage_offset(), r) for r in [t.as_strided_scatter({self}, t.zeros(3), [3], [2]{offset})]]"
    for self in (
        "t.arange(16.0).reshape(4, 2, 2)[1::2]",
        "t.arange(16.0).reshape(4, 2, 2).transpose(0, 2)",
        "t.arange(2.0).reshape(2, 1, 1).expand(2, 2, 2)",
    )
    for offset in ("", ", 1")
] + [
    "t.select_scatter(t.zeros(2, 3), t.zeros(2), 0, 0)",
    "t.diagonal_scatter(t.zeros(2, 3), t.zeros(3))",
    "t.as_strided_scatter(t.zeros(2, 3), t.zeros(3), [2], [1])",
]


@pytest.mark.parametrize("expression", [*POLES, *CROSSED, *COMPLEX_ZEROS, *NOT_FINITE, *MIXED, *SCATTERED])
def test_like_torch(expression: str) -> None:
    agrees(expression)


@pytest.mark.parametrize("ndim", range(1, 7))
@pytest.mark.parametrize("inplace", [False, True])
def test_dropout3d_takes_any_other_number_of_dims_as_one_sample(ndim: int, inplace: bool) -> None:
    agrees(f"(t.manual_seed(0), t.nn.functional.dropout3d(t.ones({[3] * ndim}), inplace={inplace}))[1]")
