"""The native module: when it is taken, and that its kernels give what numpy's give."""

import sys

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels
from mindtorch_storage import native_module

there = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3.4e38, 1e-30, 2.5, 7.0]


class Module:
    """A module of another version."""

    DECLARATION = "another"


def test_switched_off(monkeypatch):
    monkeypatch.setenv("MINDTORCH_NATIVE", "0")
    assert native.load() is None


def test_demanded_but_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindtorch_cpu._native", None)
    monkeypatch.delenv("MINDTORCH_NATIVE", raising=False)
    assert native.load() is None
    monkeypatch.setenv("MINDTORCH_NATIVE", "1")
    with pytest.raises(ImportError, match="without its native module"):
        native.load()


def test_a_library_it_needs_is_missing(monkeypatch):
    def missing(name):
        raise ImportError("libgomp.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(native_module, "load", missing)
    monkeypatch.delenv("MINDTORCH_NATIVE", raising=False)
    with pytest.warns(RuntimeWarning, match=r"libgomp\.so\.1: cannot open.*apt-get install libgomp1"):
        assert native.load() is None
    monkeypatch.setenv("MINDTORCH_NATIVE", "1")
    with pytest.raises(ImportError, match=r"libgomp\.so\.1"):
        native.load()


def test_another_version(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindtorch_cpu._native", Module)
    monkeypatch.delenv("MINDTORCH_NATIVE", raising=False)
    with pytest.warns(RuntimeWarning, match="build it anew"):
        assert native.load() is None
    monkeypatch.setenv("MINDTORCH_NATIVE", "1")
    with pytest.raises(ImportError, match="build it anew"):
        native.load()


def test_a_switch_it_has_not(monkeypatch):
    monkeypatch.setenv("MINDTORCH_NATIVE", "yes")
    with pytest.raises(ValueError, match="0, 1 or unset"):
        native.load()


@there
def test_every_row_has_its_native_kernel():
    rows = native.rows()
    assert len(rows) == len(set(rows))
    for row in rows:
        kernel = kernels["cpu"][row].fn
        assert isinstance(kernel, native.module.Kernel)
        assert repr(kernel) == f"<native kernel {row}>"


def numbers(shape, dtype, seed):
    made = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    flat = made.reshape(-1)
    for place, value in enumerate(SPECIAL):
        if place * 3 + seed < flat.size:
            flat[place * 3 + seed] = value
    return made


def spread(array):
    """The same elements with gaps between them."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def unaligned(array):
    """The same elements at an address that is no multiple of their size."""
    memory = np.empty(array.nbytes + 1, np.uint8)[1:]
    made = memory.view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def operand_pairs(dtype):
    """Pairs of operands: those a native kernel takes, and those it must leave to numpy."""
    x, y = numbers((5, 64), dtype, 0), numbers((5, 64), dtype, 1)
    row, one, none = numbers((64,), dtype, 2), np.asarray(2.5, dtype), np.zeros((0, 3), dtype)
    yield from [(x, y), (x, row), (row, x), (x, one), (one, x), (x, 2.5), (-0.0, x), (x, np.inf), (x, x), (one, one)]
    yield from [(none, none), (none, one), (x[:, :1], y), (x, y[:1]), (x[:, :3], row[:3]), (x, 3), (x, True)]
    yield from [(spread(x), y), (x, spread(row)), (x.T, y.T), (unaligned(x), y), (x[:, ::-1], y)]
    other = np.float64 if dtype is np.float32 else np.float32
    yield (x, y.astype(other))
    yield (x, np.arange(64))


def same(native_kernel, arguments, out):
    expected, ours = out.copy(), out
    with np.errstate(all="ignore"):
        native_kernel.numpy(expected, *arguments)
        native_kernel(ours, *arguments)
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(expected))
    numbered = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(ours[numbered]), np.signbit(expected[numbered]))


@there
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", ["add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"])
def test_binary_kernels(row, dtype):
    kernel = kernels["cpu"][row].fn
    for left, right in operand_pairs(dtype):
        # Products with these are exact and finite: nothing rounds but the sum.
        for alpha in [1, 0.5] if row in ("add.Tensor", "sub.Tensor") else [None]:
            shape = np.broadcast_shapes(np.shape(left), np.shape(right))
            wide = np.result_type(left, right) if isinstance(right, np.ndarray) and right.dtype != dtype else dtype
            arguments = (left, right) if alpha is None else (left, right, alpha)
            same(kernel, arguments, np.full(shape, 7, wide))
            same(kernel, arguments, np.full((*shape, 2), 7, wide)[..., 0])


@there
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", ["neg", "sqrt", "abs", "relu"])
def test_unary_kernels(row, dtype):
    kernel = kernels["cpu"][row].fn
    x = numbers((7, 33), dtype, 0)
    for one in [x, x.T, spread(x), unaligned(x), x[:0], np.asarray(2.25, dtype), x[::-1]]:
        same(kernel, (one,), np.full(one.shape, 7, dtype))


@there
def test_outputs_that_are_operands():
    kernel = kernels["cpu"]["add.Tensor"].fn
    memory = np.arange(40, dtype=np.float32)
    kernel(memory, memory, memory, 1)
    assert memory.tolist() == [2 * number for number in range(40)]
    expected = memory.copy()
    expected[1:] = memory[1:] + memory[:-1]
    kernel(memory[1:], memory[1:], memory[:-1], 1)  # the operand is one element behind: numpy buffers it
    assert memory.tolist() == expected.tolist()


@there
def test_outputs_that_cannot_be_written():
    locked = np.zeros(4, np.float32)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kernels["cpu"]["neg"].fn(locked, np.ones(4, np.float32))
