"""Random tensors of every dtype under random print options: the text is torch's, to the character."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128", "complex32", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
    "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 1e-5, 123456.0]
OPTIONS: dict[str, list[Any]] = {
    "precision": [0, 1, 2, 6, 8, 10],
    "threshold": [0, 5, 100, math.inf],
    "edgeitems": [0, 1, 2, 5],
    "linewidth": [1, 20, 50, 120, 200],
    "sci_mode": [True, False, None],
    "profile": ["default", "short", "full"],
}
KINDS = ["unit", "whole", "wide", "tiny", "big", "special", "constant", "powers"]


def reals(pick: random.Random, numbers: np.random.RandomState, count: int) -> Any:
    kind = pick.choice(KINDS)
    if kind == "unit":
        return numbers.rand(count)
    if kind == "whole":
        return numbers.randint(-50, 50, count).astype(float)
    if kind == "special":
        return numbers.choice(SPECIAL, count)
    if kind == "constant":
        return np.full(count, pick.choice([0.0, 1.0, 0.1, 1e8, 1e-4, 9.99995, 1000.5]))
    if kind == "powers":
        return numbers.randint(1, 9, count) * 10.0 ** numbers.randint(-3, 4, count)
    powers = {"wide": (-6, 9), "tiny": (-12, -4), "big": (4, 12)}[kind]
    return numbers.randn(count) * 10.0 ** numbers.randint(*powers, count)


def sample(pick: random.Random, name: str) -> tuple[Any, Any]:
    """The same elements as a tensor of either side."""
    ndim = pick.choice([0, 1, 1, 2, 2, 3, 4])
    extents = [0, 1, 2, 3, 5, 7, 12] if ndim > 1 else [0, 1, 2, 3, 8, 20, 100, 1001]
    shape = [pick.choice(extents) for _ in range(ndim)]
    count = math.prod(shape)
    numbers, dtype = np.random.RandomState(pick.randrange(2**31)), getattr(torch, name)
    if dtype.is_complex:
        source = torch.tensor(reals(pick, numbers, count) + 1j * reals(pick, numbers, count))
    elif dtype.is_floating_point:
        source = torch.tensor(reals(pick, numbers, count))
    else:
        source = torch.tensor(numbers.randint(0, pick.choice([2, 10, 127]), count))
    theirs = source.to(dtype)
    if not count:
        return mt.empty(shape, dtype=getattr(mt, name)), theirs.reshape(shape)
    content = bytearray(theirs.view(torch.uint8).numpy().tobytes())
    ours, theirs = mt.frombuffer(content, dtype=getattr(mt, name)).reshape(shape), theirs.reshape(shape)
    if ndim >= 2 and pick.random() < 0.3:
        return ours.transpose(0, 1), theirs.transpose(0, 1)
    return ours, theirs


def text(module: Any, tensor: Any, options: dict[str, Any], default: str, tracked: bool) -> str:
    try:
        module.set_default_dtype(getattr(module, default))
        module.set_printoptions(profile="default")
        module.set_printoptions(**options)
        return repr(tensor.requires_grad_().view_as(tensor) if tracked else tensor)
    finally:
        module.set_default_dtype(module.float32)
        module.set_printoptions(profile="default")


@pytest.mark.parametrize("name", DTYPES)
def test_text_is_that_of_torch(name: str) -> None:
    pick = random.Random(name)
    for _ in range(60):
        ours, theirs = sample(pick, name)
        options = {key: pick.choice(values) for key, values in OPTIONS.items() if pick.random() < 0.3}
        default = pick.choice(["float32", "float32", "float64", "float16", "bfloat16"])
        tracked = pick.random() < 0.2 and (theirs.is_floating_point() or theirs.is_complex())
        mine, expected = (text(m, t, options, default, tracked) for m, t in ((mt, ours), (torch, theirs)))
        assert mine == expected, (options, default)


def test_tangents_are_shown() -> None:
    texts = []
    for module in (mt, torch):
        forward_ad = module.autograd.forward_ad
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(module.ones(2), module.zeros(2))
            texts.append((repr(dual), repr(dual * 2)))
    assert texts[0] == texts[1]


def test_subclasses_of_parameter_say_so() -> None:
    texts = []
    for module in (mt, torch):
        kind = type("Weight", (module.nn.Parameter,), {})
        texts.append(repr(kind(module.ones(2))))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
)
@pytest.mark.parametrize("source", ["float32", "float64", "bfloat16", "float16"])
def test_casts_to_types_of_one_byte(name: str, source: str) -> None:
    numbers = np.random.RandomState(0)
    edges = [
        math.inf,
        -math.inf,
        math.nan,
        448,
        464,
        465,
        480,
        57344,
        61440,
        65536,
        240,
        248,
        2.0**-127,
        1.5,
        0.0,
        -0.0,
    ]
    values = np.concatenate([edges, numbers.randn(500) * 10.0 ** numbers.randint(-12, 8, 500)])
    given = torch.tensor(values).to(getattr(torch, source))
    expected = given.to(getattr(torch, name)).view(torch.uint8).tolist()
    mine = mt.frombuffer(bytearray(given.view(torch.uint8).numpy().tobytes()), dtype=getattr(mt, source))
    assert mine.to(getattr(mt, name)).view(mt.uint8).tolist() == expected
