"""`torch._numpy`: every function on both sides, with values, types, shapes and errors compared."""

from __future__ import annotations

import importlib
from typing import Any

import numpy
import pytest

import mindtorch

torch = pytest.importorskip("torch")
ours = importlib.import_module("mindtorch._numpy")
theirs = importlib.import_module("torch._numpy")
testing = importlib.import_module("mindtorch._numpy.testing")

NUMBERS = """
np.arange(6).reshape(2, 3) + 1.5
np.array([1, 2], dtype="int8") + 3
np.array([1, 2], dtype="uint8") * np.array([3, 4], dtype="int16")
np.array([1, 2], dtype="float32") + np.array([1, 2])
np.float16(3) + 2
2 ** np.arange(4)
np.arange(5) // 2
np.arange(5) % 3
-np.arange(3)
~np.arange(3)
np.divmod(np.arange(7), 3)
np.modf(np.array([1.5, -2.25]))
np.sqrt(np.arange(4))
np.cbrt(np.array([1.0, 8.0]))
np.exp(np.array([0, 1], dtype="float32"))
np.ldexp(np.array([1.0, 2.0]), np.array([1, 2]))
np.abs(np.array([True, False]))
np.maximum(np.array([1, 5]), 3)
np.heaviside(np.array([-1.0, 0.0, 2.0]), 0.5)
np.logical_and(np.array([1, 0]), np.array([1, 1]))
np.matmul(np.ones((2, 2), dtype="bool"), np.ones((2, 2), dtype="bool"))
np.arange(4) @ np.arange(4)
np.add(np.arange(3), 1, dtype="float32")
np.nan_to_num(np.array([np.nan, np.inf, 1.0]))
np.round(np.array([1.234, 2.345]), 1)
np.clip(np.arange(5), 1, 3)
np.angle(np.array([1j, 1.0]), deg=True)
np.real_if_close(np.array([1 + 1e-20j, 2]))
np.iscomplex(np.array([1j, 1]))
np.sinc(np.array([0.0, 0.5]))
"""
REDUCTIONS = """
np.sum(np.arange(6).reshape(2, 3), axis=(0, 1), keepdims=True)
np.sum(np.array([True, True]))
np.arange(6).reshape(2, 3).mean(axis=0)
np.arange(6).reshape(2, 3).std(axis=-1, ddof=1)
np.var(np.array([1.0, 2.0, 4.0]), keepdims=True)
np.prod(np.arange(1, 5))
np.argmax(np.array([[1, 3], [5, 2]]), axis=1, keepdims=True)
np.argmin(np.array([True, False]))
np.any(np.zeros((2, 2)), axis=0)
np.all(np.ones((2, 2)), axis=None)
np.ptp(np.array([[1, 5], [2, 9]]), axis=1)
np.amax(np.arange(6).reshape(2, 3), axis=0)
np.count_nonzero(np.array([[0, 1], [2, 0]]), axis=1)
np.cumsum(np.arange(6).reshape(2, 3))
np.cumprod(np.arange(1, 7).reshape(2, 3), axis=1)
np.average(np.array([1.0, 2.0, 3.0]), weights=np.array([3.0, 1.0, 0.0]))
np.average(np.arange(6.0).reshape(3, 2), axis=1, weights=np.array([0.25, 0.75]), returned=True)
np.quantile(np.arange(5), 0.3)
np.percentile(np.arange(6).reshape(2, 3), 50, axis=1)
np.median(np.array([3, 1, 2]))
np.sum(np.arange(3), axis=())
"""
SHAPES = """
np.concatenate([np.arange(2), np.array([1.5])])
np.concatenate(([[1, 2]], [[3, 4]]), axis=None)
np.stack([np.arange(2), np.arange(2)], axis=1)
np.vstack(([1, 2], [3, 4]))
np.hstack(([1, 2], [3, 4]))
np.column_stack(([1, 2], [3, 4]))
np.append(np.arange(3), [7, 8])
np.array_split(np.arange(7), 3)
np.split(np.arange(6), [2, 3, 9])
np.hsplit(np.arange(8).reshape(2, 4), 2)
np.meshgrid(np.arange(2), np.arange(3), indexing="ij")
np.meshgrid(np.arange(2), np.arange(3), sparse=True)
np.indices((2, 3))
np.expand_dims(np.arange(2), (0, 2))
np.transpose(np.zeros((2, 3, 4)), (2, 0, 1)).shape
np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
np.squeeze(np.zeros((1, 3, 1)), axis=0).shape
np.swapaxes(np.arange(6).reshape(2, 3), 0, 1)
np.roll(np.arange(5), 2)
np.flip(np.arange(6).reshape(2, 3), axis=1)
np.rot90(np.arange(4).reshape(2, 2))
np.tile(np.arange(2), (2, 2))
np.repeat(np.arange(3), [1, 2, 0])
np.resize(np.arange(3), (2, 4))
np.broadcast_to(np.arange(3), (2, 3))
np.broadcast_shapes((2, 1), (3,))
np.sort(np.array([[3, 1], [2, 0]]), axis=None)
np.argsort(np.array([3, 1, 2]), kind="stable")
np.searchsorted(np.array([1, 2, 4]), np.array([2, 3]), side="right")
np.unique(np.array([1, 3, 1]), return_counts=True)
np.where(np.array([1, 0]), np.array([1, 2]), 5)
np.nonzero(np.array([[1, 0], [0, 2]]))
np.take(np.arange(6).reshape(2, 3), [0, 2], axis=1)
np.take_along_axis(np.array([[3, 1, 2]]), np.array([[1, 2, 0]]), axis=1)
np.choose(np.array([0, 1]), ([1, 2], [3, 4]))
np.tril(np.ones((3, 3)), -1)
np.tri(2, 3)
np.diag(np.arange(3), 1)
np.diagonal(np.arange(6).reshape(2, 3), 1)
np.trace(np.arange(9).reshape(3, 3))
np.fill_diagonal(np.zeros((4, 2)), [1, 2, 3], wrap=True)
np.pad(np.arange(4).reshape(2, 2), ((1, 0), (0, 2)), constant_values=7)
np.arange(10)[::-2]
np.arange(24).reshape(2, 3, 4)[[0, 1], ..., [1, 2]]
np.arange(24).reshape(2, 3, 4)[0, :, [1, 2]]
np.arange(6).reshape(2, 3)[np.array([True, False]), 1]
np.arange(4).resize((2, 3))
"""
VALUES = """
np.linspace(0, 1, 5)
np.logspace(0, 2, 3)
np.geomspace(1, 8, 4)
np.arange(1.5, 3)
np.full((2,), 3)
np.eye(2, 3, k=1)
np.zeros_like(np.arange(2), dtype="float32")
np.hanning(5)
np.vander(np.arange(3), increasing=True)
np.dot(np.arange(3), np.arange(3))
np.inner(np.ones(2, dtype="float16"), np.ones(2, dtype="float16"))
np.outer(np.arange(2), np.arange(3))
np.kron(np.arange(2), np.arange(2))
np.vdot(np.array([1j, 2]), np.array([1j, 1]))
np.tensordot(np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2), axes=1)
np.cross([1, 2, 3], [4, 5, 6])
np.cross([1, 2], [4, 5])
np.cross([[1, 2, 0]], [4, 5, 6])
np.einsum("ij,j->i", np.arange(6).reshape(2, 3), np.arange(3))
np.einsum(np.arange(6).reshape(2, 3), [0, 1], [1, 0])
np.gradient(np.array([1.0, 2.0, 4.0, 7.0]), 2.0, edge_order=2)
np.gradient(np.array([1.0, 2.0, 4.0, 7.0]), np.array([0.0, 1.0, 3.0, 4.0]), edge_order=2)
np.gradient(np.arange(9.0).reshape(3, 3))
np.diff(np.array([1, 4, 9]), prepend=0)
np.corrcoef(np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 2.0]]))
np.cov(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0]))
np.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5])
np.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], mode="full")
np.bincount(np.array([0, 1, 1, 3]))
np.histogram(np.array([1.0, 2.0, 1.0]), bins=4, range=(0.0, 4.0))
np.histogram2d(np.array([1.0, 2.0]), np.array([1.0, 3.0]), bins=2)
np.allclose([1.0], [1.0 + 1e-9])
np.array_equal([1, 2], [1, 2])
np.array_equiv([1, 2], [[1, 2], [1, 2]])
np.fft.rfft(np.arange(4))
np.fft.fftfreq(4)
np.linalg.inv(np.array([[2, 0], [0, 4]]))
np.linalg.eigvals(np.array([[2, 0], [0, 4]]))
np.linalg.norm(np.arange(6).reshape(2, 3), axis=1, keepdims=True)
np.linalg.matrix_rank(np.eye(3))
np.linalg.cond(np.eye(2))
"""
TYPES = """
np.dtype("f4").name
np.dtype(None).itemsize
np.dtype("int8") == "int8"
np.dtype("i4").kind
repr(np.dtype("complex64"))
np.issubdtype("int32", np.integer)
np.issubdtype(np.float64, "floating")
np.can_cast("int64", "int32")
np.can_cast("int64", "int32", casting="unsafe")
np.result_type("int8", np.arange(2), "float32").name
np.common_type(np.arange(2), np.array([1.0], dtype="float32"))
np.min_scalar_type(300).name
np.finfo("float32").eps
np.iinfo("int8").max
np.isscalar(3)
np.isscalar([1, 2])
np.sctypes["float"][0].name
np.arange(3).flags["C"]
np.arange(6).reshape(2, 3).T.flags.f_contiguous
np.arange(6).reshape(2, 3).strides
str(np.arange(3))
np.array([1.0, 2.0]).astype("int32")
np.array([3]).item()
np.index_exp[1:2]
int(np.array(3))
bool(np.array([1]) == np.array([1]))
np.arange(3) == "a"
"""
ERRORS = """
np.concatenate([])
np.concatenate([np.arange(2)], out=np.arange(2), dtype="int8")
np.split(np.arange(5), 2)
np.hsplit(np.array(1), 2)
np.sum(np.arange(3), axis=2)
np.transpose(np.zeros((2, 2)), (0, 3))
np.expand_dims(np.arange(2), (0, 0))
np.zeros(2, order="F")
np.array([1], subok=True)
np.array("text")
np.dtype("nothing")
np.add(np.arange(2), 1.5, out=np.arange(2))
np.add(np.arange(2), 1, casting="never")
np.array([1, 2], dtype="int8") + 1000
np.sum(np.arange(2), out=[1, 2])
np.sum(np.arange(2), out=np.zeros(3))
np.argmax(np.array([1j]))
np.sort(np.array([1j]))
np.average([1, 2], weights=[1, 2, 3])
np.cross([1], [1])
np.einsum("i->i", [1], order="F")
np.arange(3).flags["X"]
np.arange(3).flags["NO"]
np.resize(np.arange(3), (-1,))
np.rollaxis(np.zeros((2, 2)), 0, 5)
np.linalg.inv(np.zeros((2, 2)))
np.ldexp(1.0, 2.0)
np.divmod(np.arange(2), 2, np.arange(2), None)
np.histogram([1.0], normed=True)
np.random.choice(np.array([1.0, 2.0]), p=np.array([0.1, 0.2]))
np.random.shuffle([1, 2])
np.diag_indices_from(np.zeros(3))
np.operator_that_is_not_there
range(3)[np.array([1, 2])]
np.zeros(2).astype("f4", order="C")
"""


def plain(value: Any) -> Any:
    """A result as numpy has it, with what must agree beside the numbers."""
    if isinstance(value, (ours.ndarray, theirs.ndarray)):
        return value.dtype.name, value.shape, value.tensor.detach().resolve_conj().numpy()
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [plain(one) for one in value]
    if isinstance(value, (mindtorch.dtype, torch.dtype)):
        return str(value)
    return value


def same(a: Any, b: Any) -> bool:
    """Whether two results agree."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, numpy.ndarray):
        return a.dtype == b.dtype and numpy.allclose(a, b, rtol=1e-6, equal_nan=True)
    return type(a) is type(b) and (a == b or a != a)


def outcome(expression: str, namespace: Any) -> Any:
    """Return what an expression gives, or which error it raises."""
    try:
        return plain(eval(expression, {"np": namespace}))
    except Exception as error:  # noqa: BLE001 (the two sides are compared)
        return type(error).__name__, str(error)


@pytest.mark.parametrize("expression", (NUMBERS + REDUCTIONS + SHAPES + VALUES + TYPES).strip().splitlines())
def test_functions(expression: str) -> None:
    mine, reference = outcome(expression, ours), outcome(expression, theirs)
    assert same(mine, reference), (mine, reference)


@pytest.mark.parametrize("expression", ERRORS.strip().splitlines())
def test_errors(expression: str) -> None:
    mine, reference = outcome(expression, ours), outcome(expression, theirs)
    assert mine[0] == reference[0], (mine, reference)
    # What torch's own functions say is in other tests.
    if "torch" not in str(reference[1]) and "Internal error" not in str(reference[1]):
        assert mine == reference


def test_names() -> None:
    def offered(module: Any) -> set[str]:
        return {name for name in vars(module) if not name.startswith("_")}

    assert offered(theirs) <= offered(ours)
    for name in ("fft", "linalg", "random"):
        functions = {key for key, value in vars(getattr(theirs, name)).items() if getattr(value, "__wrapped__", None)}
        assert functions <= offered(getattr(ours, name))
    methods = {name for name in dir(theirs.ndarray) if not name.startswith("__") or name in dir(numpy.ndarray)}
    assert methods <= set(dir(ours.ndarray))


def test_arrays_are_views_of_their_tensors() -> None:
    tensor = mindtorch.zeros(2, 3, requires_grad=True)
    array = ours.asarray(tensor)
    assert array.tensor is tensor
    ours.sum(ours.sin(array) * 2).tensor.backward()
    assert tensor.grad.tolist() == [[2.0] * 3] * 2
    whole = ours.zeros((2, 2))
    part = whole[0]
    part += 1
    whole[1, ::1] = 5
    whole.real = whole * 2
    assert whole.tolist() == [[2.0, 2.0], [10.0, 10.0]]
    ours.put(whole, [0, 3], [7])
    ours.put_along_axis(whole, ours.array([[1], [0]]), 0, axis=1)
    assert whole.tolist() == [[7.0, 0.0], [0.0, 7.0]]


def test_random_numbers_are_those_of_torch() -> None:
    def drawn(namespace: Any) -> list[Any]:
        namespace.random.seed(3)
        draw = namespace.random
        return [draw.rand(2).tolist(), draw.randn(3).tolist(), draw.uniform(1, 2), draw.randint(5, size=4).tolist()]

    assert drawn(ours) == drawn(theirs)


def test_assertions() -> None:
    testing.assert_equal(ours.arange(3), [0, 1, 2])
    testing.assert_allclose({"a": 1.0}["a"], ours.array(1.0 + 1e-9))
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 3"):
        testing.assert_array_equal(ours.arange(3), ours.array([0, 1, 5]))
