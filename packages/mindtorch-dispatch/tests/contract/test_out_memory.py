"""What a call writes may share memory with what it reads only where torch lets it."""

import pytest

mt = pytest.importorskip("mindtorch", reason="calls on real tensors")
torch = pytest.importorskip("torch", reason="oracle")

from mindtorch_testing import assert_same_value, assert_torch_error  # noqa: E402


def count(T, n=20):
    return T.arange(float(n))


REFUSED = {
    "data shares the storage alone": lambda T, x: T.add(x[1:], 1, out=x.data[:-1]),
    "data of the operand, in place": lambda T, x: x[1:].add_(x.data[:-1]),
    "data of the target, in place": lambda T, x: x[1:].data.mul_(x[:-1]),
    "set_ shares the storage alone": lambda T, x: T.exp(x[1:], out=T.empty(0).set_(x)[:-1]),
    "a composed op": lambda T, x: T.deg2rad(x[:-1], out=x[1:]),
    "a list of operands": lambda T, x: T.hstack([x[:2], x[2:4]], out=x[:4]),
    "an out= tensor that is resized over the operand": lambda T, x: T.cat([x[:8]], out=x[4:4]),
    "places that are read": lambda T, x: T.gather(x[:8], 0, T.tensor([1, 2, 3]), out=x[2:2]),
    "the second result": lambda T, x: T.aminmax(x.view(4, 5), dim=0, out=(T.empty(5), x[1:6])),
    "all of it in another order": lambda T, x: T.cumsum(x[:9].view(3, 3), 0, out=x[:9].view(3, 3).t()),
    "an operand of another shape": lambda T, x: T.outer(x[:3], T.ones(3), out=x[:9].view(3, 3)),
    "a column of the operand": lambda T, x: T.exp(x, out=x.view(20, 1)),
    "the source of a scatter": lambda T, x: x[:4].scatter_(0, T.tensor([0]), x[:1]),
}
ANSWERED = {
    "the operand itself": lambda T, x: T.cumsum(x, 0, out=x),
    "data of the operand": lambda T, x: T.add(x, 1, out=x.data),
    "positions written over the operand itself": lambda T, x: T.index_add(x, 0, T.tensor([1]), T.ones(1), out=x),
    "a scatter over the operand itself": lambda T, x: T.scatter(x, 0, T.tensor([1]), T.ones(1), out=x),
    "a part that torch does not look at": lambda T, x: T.tril(x[:9].view(3, 3), out=T.empty(3, 3)),
    "a broadcast summand": lambda T, x: T.addmm(x[:3], T.ones(3, 3), T.ones(3, 3), out=T.empty(3, 3)),
    "a column, of an outer product": lambda T, x: T.outer(x, T.ones(1), out=x.view(20, 1)),
    "a column, of a summed outer product": lambda T, x: T.addr(T.ones(20, 1), x, T.ones(1), out=x.view(20, 1)),
    "neighbours": lambda T, x: T.exp(x[:10], out=x[10:]),
    "an out= tensor that is looked at before it is resized": lambda T, x: (
        T.take(x[:8], T.tensor([6]), out=x[2:2]).shape
    ),
    "the divisor, with zeros": lambda T, x: T.floor_divide(x - 3, y := x.remainder(3) - 1, out=y),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refused_as_in_torch(call):
    assert_torch_error(lambda: call(mt, count(mt)), lambda: call(torch, count(torch)))


@pytest.mark.parametrize("call", ANSWERED.values(), ids=ANSWERED)
def test_answered_as_in_torch(call):
    assert_same_value(lambda: call(mt, count(mt)), lambda: call(torch, count(torch)))


def test_a_planned_call_looks_again():
    x, apart = count(mt), mt.empty(19)
    for _ in range(3):
        assert mt.deg2rad(x[:-1], out=apart) is apart
        with pytest.raises(RuntimeError, match="single memory location"):
            mt.deg2rad(x[:-1], out=x[1:])
