"""Geometries laid over storages: what fits, what is refused and with which words, what grows; beside torch."""

from __future__ import annotations

import random
from typing import Any

import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CASES = [
    "t.zeros(1).expand(3).zero_()", "t.zeros(1).expand(3).fill_(2)",
    "t.zeros(1).expand(3).masked_fill_(t.ones(3, dtype=t.bool), 1)", "t.zeros(1).expand(3).copy_(t.ones(3))",
    "t.zeros(3).set_(t.UntypedStorage(8), 0, [4], [1]).untyped_storage().nbytes()",
    "t.zeros(3).set_(t.UntypedStorage(8), 5, [1], [1]).untyped_storage().nbytes()",
    "t.zeros(3).set_(t.UntypedStorage(8), 5, [0], [1]).untyped_storage().nbytes()",
    "t.zeros(3).set_(t.UntypedStorage(8), -1, [1], [1])", "t.zeros(3).set_(t.UntypedStorage(8), 0, [-1], [1])",
    "t.zeros(3).set_(t.UntypedStorage(8), 0, [1, 2], [1])", "t.zeros(3).set_(t.UntypedStorage(7)).shape",
    "t.zeros(3).set_(t.UntypedStorage(8), 0, [2, 2]).stride()", "t.zeros(3).set_(t.ones(8)[::2]).stride()",
    "t.zeros(3).set_(t.UntypedStorage(16), 0, [2, 2], [1, -1])",
    "t.zeros(3).set_(t.frombuffer(bytearray(8), dtype=t.float32).untyped_storage(), 0, [4], [1])",
    "t.zeros(3).set_(t.ones(2, device='meta'))", "t.zeros(3).set_(t.UntypedStorage(8, device='meta'))",
    "t.zeros(3).resize_([2, -1])", "t.zeros(3).resize_([2], memory_format=t.channels_last)",
    "t.zeros(3).resize_([1, 2, 3, 4], memory_format=t.channels_last).stride()",
    "t.zeros(3).resize_([2], memory_format=t.preserve_format)", "t.ones(2, 3).t().resize_(3, 2).stride()",
    "t.ones(1, 2, 3, 4).to(memory_format=t.channels_last).resize_(2, 2, 3, 4).stride()",
    "t.ones(2).resize_as_(t.ones(1, 2, 3, 4).to(memory_format=t.channels_last)).stride()",
    "t.ones(2).resize_as_(t.ones(1, 2, 3, 4).to(memory_format=t.channels_last), memory_format=t.preserve_format).stride()",
    "t.frombuffer(bytearray(8), dtype=t.float32).resize_(4)", "t.frombuffer(bytearray(8), dtype=t.float32).resize_(1)",
    "t.ones(4)[3:].resize_(0, 5).untyped_storage().nbytes()", "t.ones(4).as_strided([2], [1], 4)",
    "t.ones(4).as_strided([2], [1], -1)", "t.ones(4).as_strided([0], [1], 9).storage_offset()",
    "t.ones(4).as_strided([2, 2], [3, 1])", "t.ones(4).as_strided([2], [1, 1])", "t.ones(4).as_strided([2], [-1])",
    "t.ones(4, device='meta').as_strided([9], [1])", "t.ones(4)[2:].as_strided([2], [1]).storage_offset()",
    "t.ones(4)[2:].as_strided([3], [1])", "t.ones(4).as_strided_([9], [1])",
    "t.ones(2, 3).copy_(t.ones(4, 2, 3))", "t.ones(2, 3).copy_(t.ones(2, 2))", "t.ones(3).copy_(t.ones(2, 3))",
]  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_geometry(text: str) -> None:
    code = compile(text, "case", "eval")
    assert_same(lambda: eval(code, {"t": mt}), lambda: eval(code, {"t": torch}))


def steps(module: Any, seed: int) -> list[Any]:
    """Views, copies and resizes in a random order; what each gave and where all tensors lie after it."""
    pick = random.Random(seed)
    base = module.arange(24.0)
    pool, log = [base, base.view(4, 6), base[3:9], module.arange(6.0).reshape(2, 3)], []
    for _ in range(12):
        here, other = pick.choice(pool), pick.choice(pool)
        size = [pick.choice([0, 1, 2, 3, 4, 5]) for _ in range(pick.choice([1, 1, 2, 3]))]
        stride = [pick.choice([1, 1, 2, 3, 6]) for _ in size]
        offset = pick.choice([None, 0, 1, 5, 20, 30, -1])
        action = pick.choice(["strided", "strided", "set", "set tensor", "view", "transpose", "narrow", "copy", "grow"])
        try:
            if action == "strided":
                pool.append(here.as_strided(size, stride, offset))
            elif action == "set":
                module.empty(0).set_(here.untyped_storage(), offset or 0, size, stride)
            elif action == "set tensor":
                pool.append(module.empty(0).set_(here))
            elif action == "view":
                pool.append(here.view(size))
            elif action == "transpose":
                pool.append(here.transpose(0, -1))
            elif action == "narrow":
                pool.append(here[1:])
            elif action == "copy":
                if here.shape == other.shape:
                    here.copy_(other)
            else:
                module.empty(0).set_(here).resize_(size)
            result = "done"
        except Exception as error:  # noqa: BLE001 (any error is an outcome)
            result = f"{type(error).__name__}: {error}"
        places = [
            (tuple(one.shape), one.stride(), one.storage_offset(), one.untyped_storage().nbytes()) for one in pool
        ]
        log.append((action, size, stride, offset, result, places))
    return log


@pytest.mark.parametrize("seed", range(40))
def test_random_sequences(seed: int) -> None:
    for mine, theirs in zip(steps(mt, seed), steps(torch, seed), strict=True):
        assert mine == theirs


def test_more_dimensions_than_arrays_have() -> None:
    """Such a tensor is made of numbers, filled and viewed; what reduces it raises as torch does."""
    many = [1] * 63 + [2, 3]
    for made in (mt.zeros(many).fill_(4), mt.full(many, 4.0), mt.empty(many).uniform_(4, 4)):
        assert made.dim() == 65
        assert made.reshape(-1).tolist() == [4.0] * 6
        with pytest.raises(RuntimeError, match="only tensors with up to 64 dims are supported"):
            made.sum(0)
