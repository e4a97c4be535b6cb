"""Native copies, conversions, fills and joins: bit for bit what numpy's kernels give, over all kinds of layouts."""

import platform

import ml_dtypes
import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
BRAIN = np.dtype(ml_dtypes.bfloat16)
TYPES = [
    np.dtype(name) for name in ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64")
] + [BRAIN]
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-8,
    -6e-8,
    5.96e-8,
    3e-8,
    65504,
    65519,
    65520,
    1e30,
    0.1,
    1.00048828125,
]


X86 = platform.machine() in ("x86_64", "AMD64")


def convertible(array, to):
    """Return the array with zeros for what C leaves open: infinities as whole numbers, which only x86 gives one answer for."""
    whole = to.kind in "iu" and array.dtype.kind not in "iub"
    return array if X86 or not whole else np.where(np.isfinite(array.astype(np.complex128)), array, array.dtype.type(0))


def numbers(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    wide = random.standard_normal(size) * np.exp2(random.integers(-20, 20, size))
    with np.errstate(all="ignore"):
        return wide.astype(dtype).reshape(shape)


def same(row, make_out, *values):
    """Both kernels leave the same bytes in the whole memory under outputs made alike."""
    kernel = kernels["cpu"][row].fn
    assert isinstance(kernel, native.module.Kernel)
    made = []
    for function in (kernel, kernel.numpy):
        out = make_out()
        with np.errstate(all="ignore"):
            function(out, *values)
        whole = out if out.base is None else out.base
        made.append(np.ascontiguousarray(whole).tobytes())
    assert made[0] == made[1]


LAYOUTS = {
    "contiguous": lambda a: a.copy(),
    "turned": lambda a: a.T.copy().T,
    "moved": lambda a: np.moveaxis(np.moveaxis(a, 0, -1).copy(), -1, 0),
    "gaps": lambda a: np.repeat(np.repeat(a, 2, 0), 3, -1)[::2, ..., ::3],
    "backward": lambda a: a[::-1, ..., ::-1].copy()[::-1, ..., ::-1],
}
SHAPES = [(1, 1), (1, 17), (5, 7), (64, 65), (70, 129), (3, 33, 18), (2, 3, 16, 20), (2, 1, 3, 5, 4), (0, 4)]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("to", LAYOUTS)
def test_layouts(dtype, to):
    for shape in SHAPES:
        source = numbers(shape, dtype)
        for layout in LAYOUTS.values():
            given = layout(source)
            same("copy_", lambda s=source: LAYOUTS[to](np.zeros_like(s)), None, given, False)


@pytest.mark.parametrize("to", TYPES, ids=str)
@pytest.mark.parametrize("given", TYPES, ids=str)
def test_conversions(given, to):
    for count in [*range(0, 36), 70, 1000]:
        same("clone", lambda n=count: np.zeros(n, to), convertible(numbers((count,), given), to))
    same("_to_copy", lambda: np.zeros((9, 5), to).T, convertible(numbers((5, 9), given), to), None, None)
    if given.kind not in "iub" and to.kind not in "iu":
        with np.errstate(all="ignore"):
            odd = np.array(SPECIAL, np.float32).astype(given)
        same("clone", lambda: np.zeros(len(odd), to), odd)


def test_every_half():
    halves = np.arange(1 << 16, dtype=np.uint16)
    for dtype in (np.dtype(np.float16), BRAIN):
        wide = np.zeros(1 << 16, np.float32)
        kernels["cpu"]["clone"].fn(wide, halves.view(dtype))
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(wide, halves.view(dtype).astype(np.float32))
        same("clone", lambda t=dtype: np.zeros(1 << 16, t), wide)
        with np.errstate(all="ignore"):
            between = wide * np.float32(1.0003)
        same("clone", lambda t=dtype: np.zeros(1 << 16, t), between)


def test_broadcast():
    for shape in [(), (1,), (65,), (64, 1), (3, 1, 65)]:
        same("copy_", lambda: np.zeros((3, 64, 65), np.float32), None, numbers(shape, np.dtype(np.float32)), False)


def test_overlap():
    for source in (slice(0, 90), slice(10, 100)):
        made = []
        kernel = kernels["cpu"]["copy_"].fn
        for function in (kernel, kernel.numpy):
            memory = np.arange(100.0)
            function(memory[5:95], None, memory[source], False)
            made.append(memory)
        np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_fills(dtype):
    for layout in LAYOUTS.values():
        for shape in [(), (5, 7), (3, 1, 70)]:
            if not shape and layout is not LAYOUTS["contiguous"]:
                continue

            def make(shape=shape, layout=layout):
                return layout(np.asarray(numbers(shape, dtype)))

            same("zeros", make, shape)
            same("ones", make, shape)
            for value in (
                0,
                1,
                3,
                True,
                2.5,
                -1 if dtype.kind not in "u" else 7,
                1e-8,
                np.nan if dtype.kind in "fc" else 4,
            ):
                if (dtype.kind not in "V" and dtype != BRAIN) or value == value:
                    same("full", make, shape, value)
                    same("fill_.Scalar", make, None, value)
            same("fill_.Tensor", make, None, np.asarray(numbers((), dtype)))


def test_numbers_that_do_not_fit():
    for dtype, value in [(np.int32, 1 << 40), (np.int64, 1 << 70), (np.float16, 1e6)]:
        kernel, made = kernels["cpu"]["full"].fn, []
        for function in (kernel, kernel.numpy):
            out = np.zeros(3, dtype)
            try:
                function(out, None, value)
                made.append(out.tobytes())
            except (RuntimeError, OverflowError) as error:
                made.append(str(error))
        assert made[0] == made[1]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_joins(dtype, layout):
    a, b, empty = numbers((3, 5, 4), dtype), numbers((3, 2, 4), dtype, 1), numbers((0,), dtype)
    turn = LAYOUTS[layout]
    same("cat", lambda: np.zeros((3, 12, 4), dtype), [turn(a), empty, turn(b), a], 1)
    same("cat", lambda: np.zeros((3, 5, 8), dtype), [turn(a), turn(a)], -1)
    same("cat", lambda: np.zeros((0,), dtype), [empty, empty], 0)
    same("repeat", lambda: np.zeros((2, 9, 5, 8), dtype), turn(a), [2, 3, 1, 2])
    same("repeat", lambda: np.zeros((3, 0, 4), dtype), turn(a), (1, 0, 1))
    for dims in [(0,), (1, -1), (), (0, 1, 2)]:
        same("flip", lambda: np.zeros((3, 5, 4), dtype), turn(a), dims)
    for shifts, dims in [((1,), (0,)), ((-7, 2), (1, 2)), ((2, 3), (1, 1)), ((3,), ()), ((0, 5), (0, 1))]:
        same("roll", lambda: np.zeros((3, 5, 4), dtype), turn(a), shifts, dims)
    for diagonal in range(-6, 7):
        same("tril", lambda: np.ones((3, 5, 4)).astype(dtype), turn(a), diagonal)
        same("triu", lambda: np.ones((3, 5, 4)).astype(dtype), turn(a), diagonal)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_embedded_parts(layout):
    dtype = np.dtype(np.float32)
    grad = LAYOUTS[layout](numbers((3, 5, 4), dtype))
    for dim, index in [(0, 1), (1, -1), (3, 0), (-2, 6)]:
        shape = [3, 5, 4]
        shape.insert(dim % 4, 7)
        same("select_backward", lambda s=shape: np.ones(s, dtype), grad, shape, dim, index)
    for dim, start, end, step, extent in [(1, 2, 7, 1, 9), (0, 1, 99, 3, 9), (-1, -4, 8, 1, 8), (1, 0, 9, 2, 9)]:
        shape = [3, 5, 4]
        shape[dim] = extent
        same("slice_backward", lambda s=shape: np.ones(s, dtype), grad, shape, dim, start, end, step)
    for pad, shape in [
        ((1, 2), (3, 5, 7)),
        ((0, -1, 2, 0), (3, 7, 3)),
        ((1, 1, -2, -3, 0, 2), (5, 0, 6)),
        ((), (3, 5, 4)),
    ]:
        for value in (0, 0.0, -1.5, 3):
            same("constant_pad_nd", lambda s=shape: np.ones(s, dtype), grad, pad, value)


def test_triangle_in_place():
    for row in ("tril", "triu"):
        made, kernel = [], kernels["cpu"][row].fn
        for function in (kernel, kernel.numpy):
            matrix = np.arange(35.0).reshape(5, 7)
            function(matrix, matrix, 1)
            made.append(matrix)
        np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64, np.int32])
def test_ranges(dtype):
    for start, step in [(0, 1), (5, -3), (-7, 2), (0, 0), (1 << 40, 1), (0.5, 0.25), (0, 1 << 21), (3, 1.0)]:
        same("arange", lambda: np.zeros(70, dtype), start, start + 70 * step, step)
