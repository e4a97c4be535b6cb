"""Size, layouts, memory formats and numeric limits."""
# ruff: noqa: RUF005 (concatenation is what is tested; cases stay one per entry)

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from mindtorch_storage import dtype as types
from mindtorch_storage import layout as layouts
from mindtorch_storage import qscheme as schemes
from mindtorch_storage.finfo import finfo, iinfo
from mindtorch_storage.size import Size

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

SIZES: list[Callable[[Any], Any]] = [
    lambda S: S([2, 3, 4])[1:], lambda S: S([2, 3]) + (1,), lambda S: (1,) + S([2, 3]), lambda S: S([2]) * 2,
    lambda S: 2 * S([2]), lambda S: S([2, 3, 4]).numel(), lambda S: S([]).numel(), lambda S: S(["a"]),
    lambda S: S([1, 1.5]), lambda S: S(3), lambda S: S(), lambda S: S([True]), lambda S: S([2, 3])[0],
    lambda S: S([2]) + [1], lambda S: S([2]) + 3, lambda S: hash(S([2, 3])) == hash((2, 3)),
    lambda S: S([2, 3]) == (2, 3), lambda S: S([2**70]), lambda S: S([-1]), lambda S: S("12"), lambda S: S([None]),
    lambda S: str(S([1])), lambda S: type(S([1, 2])[::2]).__name__, lambda S: copy.deepcopy(S([1])), lambda S: S(range(3)),
    lambda S: type("Mine", (S,), {}), lambda S: S([2, 3]).index(3), lambda S: S([1, 2])[5], lambda S: S([0, 3]).numel(),
]  # fmt: skip


@pytest.mark.parametrize("case", SIZES)
def test_size(case: Callable[[Any], Any]) -> None:
    assert_same(lambda: case(Size), lambda: case(torch.Size))


@pytest.mark.parametrize("name", sorted(str(v)[6:] for v in vars(torch).values() if isinstance(v, torch.layout)))
def test_layouts(name: str) -> None:
    mine = getattr(layouts, name)
    assert_same(lambda: mine, lambda: getattr(torch, name))
    assert pickle.loads(pickle.dumps(mine)) is mine
    assert copy.deepcopy(mine) is mine


@pytest.mark.parametrize("name", sorted(k for k, v in vars(torch).items() if isinstance(v, torch.memory_format)))
def test_memory_formats(name: str) -> None:
    mine = getattr(layouts, name)
    assert_same(lambda: mine, lambda: getattr(torch, name))
    assert pickle.loads(pickle.dumps(mine)) is mine


def test_layouts_and_formats_cannot_be_made() -> None:
    assert_same(layouts.layout, torch.layout)
    assert_same(layouts.memory_format, torch.memory_format)


CONSTANTS = [
    (layouts.strided, torch.strided),
    (layouts.channels_last, torch.channels_last),
    (schemes.QSCHEMES["per_tensor_affine"], torch.per_tensor_affine),
    (types.float32, torch.float32),
]


@pytest.mark.parametrize("attribute", ["itemsize", "_name", "other"])
@pytest.mark.parametrize(("mine", "theirs"), CONSTANTS, ids=repr)
def test_constants_do_not_change(mine: Any, theirs: Any, attribute: str) -> None:
    assert_same(lambda: delattr(mine, attribute), lambda: delattr(theirs, attribute))
    assert_same(lambda: setattr(mine, attribute, 1), lambda: setattr(theirs, attribute, 1))


@pytest.mark.parametrize(("mine", "theirs"), CONSTANTS, ids=repr)
def test_types_of_constants_are_sealed(mine: Any, theirs: Any) -> None:
    assert_same(lambda: type("Mine", (type(mine),), {}), lambda: type("Mine", (type(theirs),), {}))
    assert_same(lambda: type(mine)(), lambda: type(theirs)())
    assert copy.copy(mine) is mine
    assert copy.deepcopy([mine])[0] is mine
    assert type(mine).__mro__ == (type(mine), object)


FINFO = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")


@pytest.mark.parametrize("name", [each.name for each in types.ALL_DTYPES if each.name != "float4_e2m1fn_x2"])
def test_limits(name: str) -> None:
    mine, theirs = getattr(types, name), getattr(torch, name)
    for our_limits, their_limits, facts in ((finfo, torch.finfo, FINFO), (iinfo, torch.iinfo, FINFO[:5])):
        assert_same(lambda: our_limits(mine), lambda: their_limits(theirs))  # noqa: B023 (called at once)
        for fact in ("bits", "dtype", "max", "min") if our_limits is iinfo else facts:
            assert_same(lambda: getattr(our_limits(mine), fact), lambda: getattr(their_limits(theirs), fact))  # noqa: B023


LIMITS: list[Callable[[Any, Any], Any]] = [
    lambda T, f: f.finfo(), lambda T, f: f.iinfo(), lambda T, f: f.finfo("x"), lambda T, f: f.iinfo("x"),
    lambda T, f: f.finfo(None), lambda T, f: f.finfo(float), lambda T, f: f.iinfo(int),
    lambda T, f: f.finfo(type=T.float64), lambda T, f: f.finfo(T.float32) == f.finfo(T.float32),
    lambda T, f: f.finfo(T.float32) == f.iinfo(T.int32), lambda T, f: f.finfo(T.float32) != f.finfo(T.float64),
    lambda T, f: setattr(f.finfo(T.float32), "bits", 3),
    lambda T, f: pickle.dumps(f.finfo(T.float32)), lambda T, f: f.finfo(T.float4_e2m1fn_x2).min,
]  # fmt: skip


@pytest.mark.parametrize("case", LIMITS)
def test_limits_arguments(case: Callable[[Any, Any], Any]) -> None:
    import mindtorch_storage.finfo as ours

    assert_same(lambda: case(types, ours), lambda: case(torch, torch))
