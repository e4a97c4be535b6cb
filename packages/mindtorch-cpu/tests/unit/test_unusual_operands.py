"""Activations and norms with operands that are rare, an infinity or a bound that is nan, give what torch's give."""

import math

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")
VALUES = [-math.inf, -26.0, -17.6, -2.0, -0.0, 0.0, 0.5, math.nan, 3.0, 17.5, math.inf]
CALLS = {
    "hardtanh": [(math.nan, 1.0), (-1.0, math.nan), (2.0, 1.0)],
    "threshold": [(0, 3.0), (math.nan, 3.0)],
    "threshold_backward": [("x", 0), ("x", math.nan)],
    "elu": [(math.nan, 1.0, 1.0), (math.inf, 1.0, 1.0), (1.0, 2.0, 0.5)],
    "mish_backward": [("x",)],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_activations(name, dtype):
    for arguments in CALLS[name]:
        found = []
        for library in (mt, torch):
            x = library.tensor(VALUES, dtype=getattr(library, dtype))
            first = library.arange(1, len(VALUES) + 1).to(x.dtype) if "x" in arguments else x
            given = [x if each == "x" else each for each in arguments]
            found.append(getattr(library.ops.aten, name)(first, *given).double().tolist())
        exact = 1e-2 if dtype == "bfloat16" else 1e-5
        assert found[0] == pytest.approx(found[1], rel=exact, abs=1e-12, nan_ok=True), arguments


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5)])
def test_the_gradient_of_a_norm_with_kept_statistics_does_not_ask_the_input(shape):
    found = []
    for library in (mt, torch):
        count = math.prod(shape)
        given = library.arange(count).float().reshape(shape)
        given[0, 1] = math.inf
        grad = library.linspace(-2.0, 2.0, count).reshape(shape)
        one = library.tensor([1.0, 2.0, 3.0])
        result = library.ops.aten.native_batch_norm_backward(
            grad, given, one, one, one + 1, one, one, False, 1e-5, [True, True, True]
        )
        found.append([part.reshape(-1).tolist() for part in result])
    for mine, expected in zip(*found, strict=True):
        assert mine == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bfloat16"])
def test_columns_are_negated(dtype):
    for width in (2, 3, 4, 8):
        given = mt.arange(24 * width).to(getattr(mt, dtype)).reshape(24, width)
        expected = [-value for value in given[:, 1].tolist()]
        target = mt.zeros(24, 3, dtype=given.dtype)
        mt.neg(given[:, 1], out=target[:, 1])
        assert target[:, 1].tolist() == expected
        given[:, 1].neg_()
        assert given[:, 1].tolist() == expected
        assert given[:, 0].tolist() == [float(width * row) for row in range(24)]


@pytest.mark.parametrize("name", ["signbit", "isposinf", "isneginf", "logical_not"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_answers_are_written_between_other_elements(name, dtype):
    values = np.random.default_rng(7).standard_normal((20, 20)).astype(dtype)
    values[::3, ::5] = -np.inf
    memory = mt.zeros(20, 20, 2, dtype=mt.bool)
    ask = getattr(mt, name)
    ask(mt.from_numpy(values), out=memory[..., 0])  # numpy 2.4 writes some of these answers to other places
    assert (memory[..., 0].numpy() == getattr(np, name)(values)).all()
    assert not memory[..., 1].any()
