"""Native indexing, scattering, embeddings and selections: what numpy's kernels give, and their errors."""

import ml_dtypes
import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
TYPES = [np.dtype(name) for name in ("bool", "uint8", "float16", "float32", "int64", "float64", "complex128")]
TYPES.append(np.dtype(ml_dtypes.bfloat16))
random = np.random.default_rng(3)


def numbers(shape, dtype=np.float32):
    return np.asarray(random.integers(0, 2 if dtype == np.bool_ else 100, shape)).astype(dtype)


def places(extent, shape, low=0):
    return np.asarray(random.integers(low, extent, shape))


def outcome(function, out, values):
    """What `function` leaves in a copy of `out`, which also stands for itself among the values; or its error."""
    mine = [one.copy() for one in out] if isinstance(out, tuple) else out.copy()
    given = [mine if value is out else value for value in values]
    try:
        with np.errstate(all="ignore"):
            function(tuple(mine) if isinstance(mine, list) else mine, *given)
    except (IndexError, RuntimeError, ValueError) as error:
        return type(error), str(error)
    return [one.tolist() for one in mine] if isinstance(mine, list) else mine.tolist()


def same(row, out, *values):
    kernel = kernels["cpu"][row].fn
    assert isinstance(kernel, native.module.Kernel)
    assert outcome(kernel, out, values) == outcome(kernel.numpy, out, values)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rows(dtype):
    for shape, dim, count in [
        ((9, 4), 0, 20),
        ((9, 40), 1, 7),
        ((3, 5, 33), 1, 6),
        ((7,), 0, 300),
        ((5, 0), 0, 3),
        ((4, 3), -1, 0),
    ]:
        table, index = numbers(shape, dtype), places(shape[dim], count)
        wide = list(shape)
        wide[dim] = count
        out = np.zeros(wide, dtype)
        same("index_select", out, table, dim, index)
        same("index_select", out.T.copy().T, table, dim, index)
        same("index_select", out, np.asfortranarray(table), dim, index)
        for wrong in (-1, shape[dim]):
            same("index_select", out, table, dim, np.full(count, wrong))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_positions(dtype):
    table = numbers((6, 7, 5), dtype)
    lists = [
        [places(6, 4, -6)], [None, places(7, (2, 3), -7)], [places(6, 4), places(7, 4, -7)], [None, None, places(5, 8)],
        [places(6, (4, 1)), places(7, (1, 3))], [places(6, ()), places(7, 3)], [places(6, 3), places(7, 3), places(5, 3)],
        [places(6, 3), None, places(5, 3)], [places(6, 0)], [np.array([1, 2], np.int32)], [random.random(6) < 0.5],
    ]  # fmt: skip
    for indices in lists:
        found = table[tuple(slice(None) if one is None else one for one in indices)]
        same("_index_integer", np.zeros_like(found, order="C"), table, indices)
        same("_index_integer", np.zeros_like(found, order="C"), np.asfortranarray(table), indices)
        for accumulate in (False, True):
            for values in (numbers(found.shape, dtype), numbers((), dtype), numbers(found.shape[-1:], dtype)):
                target = numbers(table.shape, dtype)
                same("index_put", target, table, indices, values, accumulate)
                same("index_put", target, target, indices, values, accumulate)
    for wrong in ([np.array([6])], [None, np.array([0, -8])], [places(6, 2), np.array([7, 0])]):
        found = np.zeros((1, 7, 5), dtype)
        same("_index_integer", found, table, wrong)
        same("index_put", table.copy(), table, wrong, numbers((), dtype), False)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_masks(dtype):
    for shape in [(70,), (9, 33), (3, 0), (2, 3, 17)]:
        table = numbers(shape, dtype)
        for share in (0.0, 0.3, 0.9, 1.0):
            mask = random.random(shape) < share
            same("index_put", table, table, [mask], numbers((), dtype), False)
            same("index_put", numbers(shape, dtype), table, [mask], numbers((1,), dtype), False)
            for row, values in [
                ("masked_select", (table, mask)),
                ("_index_masked", (table, [mask])),
                ("nonzero", (mask,)),
            ]:
                kernel = kernels["cpu"][row].fn
                ours, expected = kernel(*values), kernel.numpy(*values)
                assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
                assert ours.strides == expected.strides or not ours.size
                assert ours.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_lines(dtype):
    for shape, dim, picked in [
        ((6, 7), 1, (6, 20)),
        ((6, 7), 0, (30, 5)),
        ((40, 9), 1, (33, 1)),
        ((3, 5, 4), -2, (2, 9, 3)),
        ((8,), 0, (90,)),
    ]:
        table, index, source = numbers(shape, dtype), places(shape[dim], picked), numbers(picked, dtype)
        turned = np.asfortranarray(index)
        for positions in (index, turned):
            for layout in (np.ascontiguousarray, np.asfortranarray):
                same("gather", layout(np.zeros(picked, dtype)), layout(table), dim, positions)
                if all(
                    a <= b for axis, (a, b) in enumerate(zip(picked, shape, strict=True)) if axis != dim % len(shape)
                ):
                    target = layout(numbers(shape, dtype))
                    for given in (table, target):
                        same("scatter.src", target, given, dim, positions, layout(source), None, True)
                        same("scatter.value", target, given, dim, positions, 1, None, True)
                        same("scatter_add", target, given, dim, positions, layout(source), "add", True)
        for wrong in (-1, shape[dim]):
            index = index.copy()
            index.reshape(-1)[-1] = wrong
            same("gather", np.zeros(picked, dtype), table, dim, index)
            same("scatter.src", numbers(shape, dtype), table, dim, index, source, None, True)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_index_add_and_take(dtype):
    for shape, dim in [((6, 7), 0), ((6, 7), 1), ((4, 3, 20), 2), ((9,), 0)]:
        table, index = numbers(shape, dtype), places(shape[dim], 11)
        wide = list(shape)
        wide[dim] = 11
        source, target = numbers(wide, dtype), numbers(shape, dtype)
        for given in (table, target):
            for alpha in (1, 1.0, 2.0) if dtype.kind == "f" else (1,):
                same("index_add", target, given, dim, index, source, alpha)
        same("index_add", target, table, dim, np.full(11, shape[dim]), source, 1)
        for low in (0, -table.size):
            same("take", np.zeros((5, 3), dtype), table, places(table.size, (5, 3), low))
        same("take", np.zeros(2, dtype), table, np.array([0, table.size]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_embedding(dtype, kind):
    for rows, width, shape in [(10, 4, (3, 5)), (300, 65, (400,)), (5, 0, (2,)), (5, 3, (0,)), (1, 1, ())]:
        weight, index = numbers((rows, width), dtype), places(rows, shape).astype(kind)
        same("embedding", np.zeros((*shape, width), dtype), weight, index, -1, False, False)
        for padding in (-1, 2):
            for scale in (False, True):
                grad = numbers((*shape, width), dtype)
                made = []
                kernel = kernels["cpu"]["embedding_dense_backward"].fn
                for function in (kernel, kernel.numpy):
                    out = np.full((rows, width), 7, dtype)
                    function(out, grad, index, rows, padding, scale)
                    made.append(out)
                np.testing.assert_allclose(*made, rtol=1e-5 if dtype != np.float16 else 1e-2)
    for wrong in (-1, 10):
        same("embedding", np.zeros((1, 4), dtype), numbers((10, 4), dtype), np.array([wrong], kind), -1, False, False)


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, 1.0, -1.0, 1e-42, -1e-42, 3e38], np.float32)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("extent", [1, 5, 63, 64, 65, 200, 1000])
def test_best(extent, largest):
    tables = [
        random.standard_normal((4, extent)).astype(np.float32), numbers((4, extent)), random.choice(SPECIAL, (4, extent)),
        np.arange(4 * extent, dtype=np.float32).reshape(4, extent),
        -np.arange(4 * extent, dtype=np.float32).reshape(4, extent),
    ]  # fmt: skip
    for table in tables:
        for many in {1, min(5, extent), min(200, extent), extent}:
            kernel, made = kernels["cpu"]["topk"].fn, []
            for function in (kernel, kernel.numpy):
                values, where = np.zeros((4, many), np.float32), np.zeros((4, many), np.int64)
                function((values, where), table, many, 1, largest, True)
                made.append((values, where))
            np.testing.assert_array_equal(made[0][0], made[1][0])
            picked = np.take_along_axis(table, made[0][1], 1)
            np.testing.assert_array_equal(picked, made[0][0])
            assert all(len(set(row)) == many for row in made[0][1].tolist())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [0, 1, 33, 64, 130])
def test_bags(dtype, width):
    weight, index = numbers((50, width), dtype), places(50, 40)
    for begins, include_last in [([0, 3, 3, 20], False), ([0, 5, 40], True), ([0], False), ([0, 0, 40], False)]:
        bags = len(begins) - include_last
        for mode in (0, 1):
            size = 0 if mode == 0 else 40
            outs = (np.zeros((bags, width), dtype), *(np.zeros(n, np.int64) for n in (size, bags, bags)))
            row = kernels["cpu"]["_embedding_bag"].fn
            for padding, given in [(-1, index), (7, index), (-1, np.full(40, 50))]:
                if padding > 0 and not size:
                    outs = (outs[0], np.zeros(40, np.int64), *outs[2:])
                values = (weight, given, np.array(begins), False, mode, False, None, include_last, padding)
                assert outcome(row, outs, values) == outcome(row.numpy, outs, values)


def test_bags_that_are_wrong():
    outs = (np.zeros((2, 4), np.float32), *(np.zeros(n, np.int64) for n in (0, 2, 2)))
    for begins in ([1, 2], [0, 60]):
        values = (numbers((5, 4)), places(5, 40), np.array(begins), False, 0, False, None, False, -1)
        same("_embedding_bag", outs, *values)


@pytest.mark.parametrize("accumulate", [True, False])
def test_rows_that_are_spread_or_have_gaps_are_put(accumulate: bool, threads: int) -> None:
    rng = np.random.default_rng(6)
    places = rng.permutation(50)
    for values in (np.broadcast_to(np.float32(2), (50, 8)), rng.standard_normal((50, 16)).astype("f4")[:, ::2]):
        self, out = rng.standard_normal((60, 8)).astype("f4"), np.full((60, 8), np.nan, "f4")
        native_kernel("index_put")(out, self, [places], values, accumulate)
        want = self.copy()
        want[places] = want[places] + values if accumulate else values
        np.testing.assert_array_equal(out, want)
