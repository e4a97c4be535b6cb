"""Arguments that one operator refuses, or takes in its own way, where a neighbour does not."""

from __future__ import annotations

import pytest

from .expressions import agrees

PLACES = [
    *(
        f"t.take_along_dim(t.arange(4.0).reshape(2, 2), t.tensor({places}), {dim})"
        for places in ("[[5, 3], [-7, 1]]", "[[-1, 0]]", "[[1], [0]]")
        for dim in (0, 1, -1)
    ),
    *(
        f"t.take_along_dim(v, t.tensor({places}))"
        for places in (
            "[3, 1]",
            "[3, 1], dtype=t.int32",
            "1, dtype=t.int32",
            "[-1]",
            "[4]",
            "[1.0]",
            "[1], dtype=t.int16",
        )
    ),
    "t.take_along_dim(v, t.tensor([3], dtype=t.int32), 0)",
    "t.take_along_dim(v.reshape(2, 2).t(), t.tensor([1, 2]))",
    "t.take_along_dim(v.reshape(2, 2), t.arange(4).reshape(2, 2).t())",
    *(
        f"t.repeat_interleave(i[0], t.tensor({repeats}))"
        for repeats in ("[-3, 4, -1]", "[3, -1, 1]", "[-1]", "[2, 0, 1]")
    ),
    *(
        f"t.repeat_interleave(z, {repeats})"
        for repeats in ("2, 0", "2, -1", "2", "t.tensor([2]), 0", "t.tensor(2), -1", "t.tensor(2)")
    ),
]

STEPS = [
    f"t.{name}(v, dx={dx})" for name in ("trapezoid", "cumulative_trapezoid") for dx in ("True", "1j", "2", "0.5")
] + ["t.nanmean(z, dtype=t.int16)", "t.nanmean(z, dtype=t.float64)"]

IN_PLACE = [
    "t.tensor(1j).abs_()",
    "t.tensor(1j).absolute_()",
    "t._foreach_abs_([t.tensor(1j)])",
    "t.tensor([1j]).to(t.complex32).abs_()",
    "t.tensor(-1.0).abs_()",
]

SPARSE = [
    "t.ones(2, 4).to_sparse(blocksize=(1, 2))",
    "t.ones(2, 4)._to_sparse(blocksize=(1, 2))",
    "t.ones(2, 4).to_sparse().to_sparse(blocksize=(1, 2))",
    "t.tensor(2.0).to_sparse().to_dense()",
    "t.tensor(0.0).to_sparse().to_dense()",
    "t.tensor(2.0).to_sparse()._values()",
    "t.tensor(0.0).to_sparse()._indices().shape",
]

LAYERS = [
    *(
        f"t.bilinear(t.ones(1, 1, dtype=t.{one}), t.ones(1, 1, dtype=t.{two}), t.ones(1, 1, 1, dtype=t.{three}){bias})"
        for one, two, three, bias in (
            ("float32", "float16", "float32", ""),
            ("float32", "float32", "float64", ""),
            ("int64", "float32", "float32", ""),
            ("float32", "float32", "float32", ", t.ones(1, dtype=t.float64)"),
            ("float32", "float32", "float32", ", t.ones(1)"),
        )
    ),
    "t.embedding_renorm_(t.ones(1, 2, dtype=t.int64), t.tensor([0]), 1.0, 2.0)",
    "t.ops.aten.embedding_dense_backward(t.ones(1, 1), t.tensor([1]), -3, 3, False)",
    *(
        f"t.nn.functional.fractional_max_pool{len(shape)}d(t.ones(1, 4, *{shape}), 2, {size})[..., 0]"
        for shape, size in (
            ([2, 2, 3], 1),
            ([3, 2, 3], 1),
            ([3, 3, 2], 1),
            ([3, 3, 3], 2),
            ([3, 3, 3], 1),
            ([2, 2], 1),
            ([2, 2], 2),
        )
    ),
    *(
        f"t.nn.functional.max_pool{dims}d({arguments})"
        for dims, arguments in (
            (2, "t.ones(1, 9, 9), (3, 2), 1, (2, 1), 2"),
            (2, "t.ones(1, 9, 9), (3, 2), 1, (1, 2)"),
            (2, "t.ones(1, 9, 9), (3, 2), 1, (1, 1), 2"),
            (3, "t.ones(1, 9, 9, 9), 3, 1, 2, 3"),
            (3, "t.ones(1, 9, 9, 9), (3, 2, 2), 1, (1, 1, 2), 3"),
            (1, "t.ones(1, 9), 3, 1, 2, 3"),
        )
    ),
    "t.nn.functional.max_pool1d_with_indices(t.ones(1, 9), 3, 1, 2, 3)",
    "t.nn.functional.multilabel_margin_loss(t.zeros(3), t.zeros(3, dtype=t.int32))",
    "t.nn.functional.multilabel_margin_loss(t.zeros(3), t.zeros(3))",
    *(
        f"t.binary_cross_entropy_with_logits(t.zeros({shape}), t.ones({shape}), {weight})"
        for shape, weight in (
            ("()", "pos_weight=t.ones(0)"),
            ("()", "t.ones(2)"),
            ("2", "pos_weight=t.ones(3, 1)"),
            ("2", "t.ones(2, 2)"),
            ("2, 2", "t.ones(2), t.ones(2, 1)"),
        )
    ),
]

OTHERS = [
    "t.ops.aten.mean.dim(t.ones(2, 2), t.tensor(1))",
    "t.ops.aten.mean.dim(t.ones(2, 2), [t.tensor(1)])",
    "t.ops.aten.avg_pool2d.default(t.ones(1, 2, 2), t.tensor(2))",
    "t.norm_except_dim(z)",
    "t.norm_except_dim(v, 2, 0)",
    "t._weight_norm(v, v + 1, 0)",
    "t._weight_norm(v, z, -1)",
    "t.nn.utils.weight_norm(t.nn.LayerNorm(4), 'weight')(v)",
    *(f"t._check_is_size({arguments})" for arguments in ("4, max=0", "4, max=4", "-1, max=4", "4, lambda: 'x', max=0")),
    "t.empty([2, 2], memory_format=t.contiguous_format, out=t.ones(1))",
    "t.empty([2, 2], memory_format=None, out=e).shape",
]


@pytest.mark.parametrize("expression", [*PLACES, *STEPS, *IN_PLACE, *SPARSE, *LAYERS, *OTHERS])
def test_like_torch(expression: str) -> None:
    agrees(expression)


SWITCHES_AND_LENGTHS = [
    *(f"t.ones(2).requires_grad_({value})" for value in ("1", "1.0", "'a'", "None", "t.tensor(True)", "True")),
    *(f"t.ones(4).split({length})" for length in ("1.5", "2.0", "None", "'a'", "t.tensor(2)", "2", "[1, 3]")),
]


@pytest.mark.parametrize("expression", SWITCHES_AND_LENGTHS)
def test_switches_and_lengths(expression: str) -> None:
    agrees(expression)


PADDED = [
    f"t.nn.functional.pad(t.ones({shape}, device='{device}').to(t.{dtype}), {pad}, '{mode}').shape"
    for mode in ("reflect", "replicate")
    for shape, pad in (((1, 3), (1, 1)), ((1, 3, 3), (1, 1, 1, 1)), ((1, 3, 3, 3), (1, 1, 1, 1, 1, 1)))
    for dtype in ("bool", "uint16", "uint8", "complex32", "float8_e5m2", "float16")
    for device in ("cpu", "meta")
]


@pytest.mark.parametrize("expression", PADDED)
def test_dtypes_that_are_not_padded(expression: str) -> None:
    agrees(expression)


AS_SCHEMAS_SAY = [
    "t.ops.aten.index(n, [None, i.clamp(0, 1)])",
    "t.ops.aten.index(self=n, indices=[None, i.clamp(0, 1)])",
    "t.ops.aten.index_put(n, [None, t.tensor([0])], n[:, :1] * 0)",
    "t.ops.aten._unsafe_index(n, [None, t.tensor([0])])",
    "t.index_put(n, [None, t.tensor([0])], n[:, :1] * 0)",
]


@pytest.mark.parametrize("expression", AS_SCHEMAS_SAY)
def test_packets_take_what_schemas_say(expression: str) -> None:
    agrees(expression)
