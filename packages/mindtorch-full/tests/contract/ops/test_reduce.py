"""Reductions where op_db does not look: empty, 0-d, nan, half precision, non-contiguous operands, error texts."""

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_dispatch.table import Kernel, kernels

from .expressions import agrees

EXPRESSIONS = [
    "t.sum(e)",
    "t.sum(w, 1)",
    "t.sum(b)",
    "t.sum(b, dtype=t.uint8)",
    "t.sum(h)",
    "t.sum(n, 0)",
    "t.sum(n, (0, 2), True)",
    "t.sum(i, 0, out=t.empty(0, dtype=t.float32))",
    "t.sum(v, 0, out=t.empty(0, dtype=t.int64))",
    "t.sum(z, 1)",
    "t.mean(e)",
    "t.mean(i)",
    "t.mean(i, dtype=t.float32)",
    "t.mean(h)",
    "t.mean(n, (1, 2))",
    "t.mean(v, 0, dtype=t.int64)",
    "t.prod(e)",
    "t.prod(i, 1)",
    "t.prod(b)",
    "t.nansum(f)",
    "t.nansum(f, 1)",
    "t.nansum(c)",
    "t.nanmean(f, 0)",
    "t.nanmean(i)",
    "t.all(e)",
    "t.any(e)",
    "t.all(w, 1)",
    "t.all(f, dim=())",
    "t.all(i.to(t.uint8))",
    "t.any(c)",
    "t.all(b, out=t.empty(0))",
    "t.count_nonzero(f)",
    "t.count_nonzero(i, (0, 1))",
    "t.norm(v)",
    "t.norm(v, 1)",
    "t.norm(f, 2, 0)",
    "v.norm(float('inf'))",
    "t.norm(i)",
    "t.linalg.vector_norm(w, float('inf'), 1)",
    "t.linalg.vector_norm(w, -1)",
    "t.linalg.vector_norm(v, 0)",
    "t.linalg.vector_norm(c, 3)",
    "t.linalg.vector_norm(v, dtype=t.float16)",
    "t.linalg.vector_norm(v, 1j)",
    "t.dist(v, v * 2, 3)",
    "t.dist(i, i)",
    "t.dist(b, b)",
]

EXTREMES = [
    "t.max(f)",
    "t.min(f)",
    "t.max(f, 1)",
    "t.min(f, 0)",
    "t.max(z, 0)",
    "t.max(e)",
    "t.max(w, 1)",
    "t.max(w, 0)",
    "t.max(c)",
    "t.max(c, 0)",
    "t.max(b)",
    "t.max(b, 0, True)",
    "t.argmax(f)",
    "t.argmax(v)",
    "t.argmin(i, 1, True)",
    "t.argmax(b)",
    "t.argmax(c)",
    "t.argmax(e)",
    "t.argmax(w, 1)",
    "t.argmax(n)",
    "t.argmax(n, 2)",
    "t.amax(f, (0, 1))",
    "t.amax(w)",
    "t.amax(w, 1)",
    "t.amin(n, (0, 2))",
    "t.amax(v, 0, out=t.empty(0, dtype=t.int32))",
    "t.aminmax(f)",
    "t.aminmax(i, dim=1)",
    "t.aminmax(e)",
    "t.max(v, v.flip(0))",
    "t.max(v, 2.0)",
    "t.max(h)",
    "t.max(n, 1)",
]

STATISTICS = [
    "t.var(v)",
    "t.var(v, False)",
    "t.var(v, correction=0.5)",
    "t.var(n, 1, False, True)",
    "t.std(c)",
    "t.std(z)",
    "t.std(e)",
    "t.var(i)",
    "t.var(v, correction=10)",
    "t.std_mean(n, 0)",
    "t.var_mean(v, correction=0)",
    "t.var_mean(i)",
    "t.std(h)",
    "t.median(v)",
    "t.median(f, 1)",
    "t.nanmedian(f, 1)",
    "t.median(e)",
    "t.median(w, 1)",
    "t.median(b)",
    "t.median(c)",
    "t.nanmedian(f)",
    "t.mode(i, 0)",
    "t.mode(v)",
    "t.mode(w)",
    "t.kthvalue(v, 2)",
    "t.kthvalue(v, 5)",
    "t.kthvalue(w, 1, 1)",
    "t.kthvalue(b, 1)",
    "t.quantile(v, 0.3)",
    "t.quantile(f, 0.3, 1)",
    "t.nanquantile(f, 0.3, 1)",
    "t.quantile(v, t.tensor([0.0, 0.5, 1.0]))",
    "t.quantile(v, 2.0)",
    "t.quantile(e, 0.5)",
    "t.quantile(v, t.tensor([2.0]))",
    "t.quantile(i, 0.5)",
    "t.quantile(v, 0.4, interpolation='nearest')",
    "t.quantile(v, 0.4, interpolation='x')",
]


@pytest.mark.parametrize("expression", EXPRESSIONS + EXTREMES + STATISTICS)
def test_as_in_torch(expression):
    agrees(expression)


@pytest.mark.parametrize("name", ["cumsum", "cat"])
def test_kernels_get_dimensions_as_python_numbers(name, monkeypatch):
    entry, seen = kernels["cpu"][name], []

    def spy(out, *values):
        seen.append(type(values[1]))
        entry.fn(out, *values)

    monkeypatch.setitem(kernels["cpu"], name, Kernel(spy, entry.upcast, entry.aliases_ok, entry.halves))
    x = mt.ones(13, 7, 3, dtype=mt.int64)  # a geometry that nothing has planned
    assert (x.cumsum(1) if name == "cumsum" else mt.cat([x, x], 1)).shape[0] == 13
    assert seen == [int]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("order", [float("inf"), float("-inf")])
def test_norm_of_complex_numbers_is_one_of_their_magnitudes(dtype, order):
    generator = np.random.default_rng(0)
    x = mt.from_numpy((generator.normal(size=(999, 4)) + 1j * generator.normal(size=(999, 4))).astype(dtype))
    x.requires_grad_()
    norm = mt.linalg.vector_norm(x, order, -1)
    magnitudes = x.detach().abs()
    expected = magnitudes.amax(-1) if order > 0 else magnitudes.amin(-1)
    assert mt.equal(norm.detach(), expected)
    norm.sum().backward()
    assert mt.equal((x.grad != 0).sum(-1), mt.ones(999, dtype=mt.int64))
