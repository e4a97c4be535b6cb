"""Writes at positions whose operands share memory with what is written; factories that fill `out=` of any shape."""

from __future__ import annotations

import pytest

import mindtorch as mt

from .expressions import agrees

FRESH = "(lambda x: {})(t.arange({}))"
HALVES = FRESH.format("{}", "6.0")
WHOLE = FRESH.format("{}", "6")

AT_POSITIONS = [
    *(
        HALVES.format(f"x.{call}")
        for call in (
            "scatter_(0, t.tensor([0, 1]), x)",
            "scatter_(0, t.tensor([5, 1, 2]), x[:3])",
            "scatter_(0, t.tensor([5, 1, 2]), x[:3], reduce='add')",
            "scatter_add_(0, t.tensor([5, 1, 2]), x)",
            "scatter_reduce_(0, t.tensor([5, 1, 2]), x, 'amax')",
            "index_add_(0, t.tensor([5, 1, 2, 0, 0, 0]), x)",
            "index_add_(0, t.tensor([5, 1, 2]), x[:3])",
            "index_copy_(0, t.tensor([5, 1, 2, 0, 3, 4]), x)",
            "index_reduce_(0, t.tensor([5, 1, 2]), x[:3], 'prod')",
            "index_put_((t.tensor([5, 1, 2]),), x[:3])",
            "index_put_((t.tensor([5, 1, 2]),), x[:3], accumulate=True)",
            "index_put_((t.tensor([0]),), x[3])",
            "__setitem__(t.tensor([0, 1]), x[1:3])",
            "put_(t.tensor([0, 1]), x[:2])",
            "add_(x)",
            "masked_fill_(x > 2, x[2])",
            "__getitem__(slice(4)).masked_fill_(t.ones(4) > 0, x[2])",
            "__getitem__(slice(4)).masked_scatter_(t.ones(4) > 0, x[2:])",
            "__getitem__(slice(4)).add_(x[2:])",
        )
    ),
    *(
        WHOLE.format(f"x.{call}")
        for call in (
            "scatter_(0, x, x)",
            "scatter_(0, x, 7)",
            "scatter_(0, x, 7, reduce='add')",
            "index_fill_(0, x, 3)",
            "index_fill_(0, x[:2], 3)",
            "index_copy_(0, x, x)",
            "index_add_(0, x, t.ones(6, dtype=t.int64))",
            "index_put_((x,), t.tensor(3))",
            "index_put_((x[:2],), t.tensor(3))",
            "put_(x, x)",
            "__setitem__(x, 3)",
        )
    ),
    *(
        f"(lambda x: x.{call})(t.ones(1).expand(6))"
        for call in (
            "index_fill_(0, t.tensor([1]), 2)",
            "index_put_((t.tensor([1]),), t.ones(1))",
            "index_add_(0, t.tensor([1]), t.ones(1))",
            "scatter_(0, t.tensor([1]), 7)",
            "put_(t.tensor([1]), t.ones(1))",
            "masked_scatter_(x > 0, t.ones(6))",
        )
    ),
]

COUNTS = ("t.linspace(0, 7, 8, out={})", "t.arange(8, out={})", "t.range(0, 7, out={})", "t.logspace(0, 7, 8, out={})")
INTO = [
    *(
        f"(lambda x, o: ({count.format('o')}, x))(*(lambda x: (x, x{part}))(t.zeros(8, 8)))"
        for count in COUNTS
        for part in (
            ".narrow(1, 1, 1)",
            "[:4].narrow(1, 1, 2)",
            "[:2, :4].t()",
            "[:, 1]",
            "[:2, :4]",
            "[:3, :2]",
            "[0]",
        )
        if "logspace" not in count or part != "[:, 1]"
    ),
    "t.linspace(3, 7, 1, out=t.zeros(()))",
    "t.linspace(3, 7, 1, out=t.zeros(1, 1))",
    "t.arange(16, out=t.zeros(4, 4, dtype=t.int64).t())",
    "t.linspace(0, 3, 4, out=t.zeros(1).expand(4))",
    "t.arange(4, out=t.zeros(1).expand(4))",
    "t.ones(4, out=t.zeros(1).expand(4))",
    "t.full((4,), 3.0, out=t.zeros(1).expand(4))",
    "t.linspace(0, 1, 3, dtype=t.chalf)",
]


@pytest.mark.parametrize("expression", [*AT_POSITIONS, *INTO])
def test_like_torch(expression: str) -> None:
    agrees(expression)


@pytest.mark.parametrize(
    "call",
    [
        "scatter_(0, {i}, {s})",
        "scatter_add_(0, {i}, {s})",
        "scatter_reduce_(0, {i}, {s}, 'sum')",
        "index_add_(0, {i}, {s})",
        "index_copy_(0, {i}, {s})",
        "index_put_(({i},), {s})",
    ],
)
def test_a_call_like_one_that_was_answered_is_refused_where_the_target_is_an_operand(call: str) -> None:
    """Plans are made once; the native path took every operand that is the target for the target itself."""
    scope = {"x": mt.arange(6), "i": mt.arange(6), "s": mt.arange(6)}
    for _ in range(2):
        eval(f"x.{call}".format(i="i", s="s"), scope)
    for operands in ({"i": "x", "s": "s"}, {"i": "i", "s": "x"}, {"i": "x", "s": "x"}):
        with pytest.raises(RuntimeError, match=r"refer to a single memory location|does not match the dtype"):
            eval(f"x.{call}".format(**operands), scope)
