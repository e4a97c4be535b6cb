"""Tensors made of Python data, as torch makes them: dtypes given as Python types, texts, warnings."""

from array import array
from collections import deque

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")


class Countdown:
    """A sequence that is neither a list nor a tuple."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index >= self.length:
            raise IndexError
        return float(self.length - index)


VALUES = {
    "tensor int": lambda t: t.tensor([1.7, 2], dtype=int),
    "tensor float": lambda t: t.tensor([1, 2], dtype=float),
    "tensor bool": lambda t: t.tensor([0, 2], dtype=bool),
    "tensor by keyword": lambda t: t.tensor(data=[1]),
    "tensor tuple": lambda t: t.tensor((1, 2)),
    "tensor tuples": lambda t: t.tensor(((1.5, 2), [3.0, 4])),
    "tensor tuples of bools": lambda t: t.tensor([(True, False), (False, True)]),
    "tensor empty tuple": lambda t: t.tensor(()),
    "tensor empty tuples": lambda t: t.tensor(((), ())),
    "tensor range": lambda t: t.tensor(range(3)),
    "tensor ranges": lambda t: t.tensor([range(3), range(3)]),
    "tensor list and range": lambda t: t.tensor([[1.5, 2], range(2)]),
    "tensor deques of bools": lambda t: t.tensor((deque([True]), deque([False]))),
    "tensor arrays of Python": lambda t: t.tensor([array("d", [1, 2])]),
    "tensor byte arrays": lambda t: t.tensor([bytearray(b"ab"), memoryview(b"cd")]),
    "tensor sequence of a program": lambda t: t.tensor([[Countdown(2)], [Countdown(2)]]),
    "tensor bytes with a dtype": lambda t: t.tensor([b"ab", [1, 2]], dtype=t.int64),
    "tensor array and list": lambda t: t.tensor([np.arange(2), [5, 6]]),
    "Tensor of ranges": lambda t: t.Tensor([range(2), range(2)]),
    "new_tensor of a range": lambda t: t.ones(2).new_tensor([range(2)]),
    "as_tensor": lambda t: t.as_tensor([1], dtype=float),
    "asarray": lambda t: t.asarray([1], dtype=float),
    "frombuffer": lambda t: t.frombuffer(bytearray(b"11111111"), dtype=int),
    "new_tensor": lambda t: t.ones(2).new_tensor([1, 2]),
    "new_tensor rounds": lambda t: t.ones(2).long().new_tensor([1.7, 2]),
    "new_tensor bool": lambda t: t.ones(2, dtype=t.bool).new_tensor([0.0, 2]),
    "new_tensor meta": lambda t: t.ones(2).new_tensor(3, device="meta").shape,
    "nonzero as_tuple": lambda t: t.nonzero(t.tensor([[0, 1], [2, 0]]), as_tuple=True),
    "nonzero method": lambda t: t.tensor([[0, 1], [2, 0]]).nonzero(as_tuple=False),
    "nonzero out": lambda t: t.nonzero(t.tensor([0, 1]), out=t.empty(0, dtype=t.int64)),
    "masked_select out": lambda t: t.masked_select(t.arange(3), t.arange(3) > 0, out=t.empty(0, dtype=t.int64)),
}
ERRORS = {
    "tensor dtype": lambda t: t.tensor([1], dtype=str),
    "tensor dtype int": lambda t: t.tensor([1], dtype=3),
    "tensor nothing": lambda t: t.tensor(),
    "tensor positional": lambda t: t.tensor(1, t.float32),
    "tensor keyword": lambda t: t.tensor(1, foo=2),
    "tensor ragged tuples": lambda t: t.tensor(((1, 2), (3,))),
    "tensor ragged ranges": lambda t: t.tensor([range(2), range(3)]),
    "tensor range and number": lambda t: t.tensor([range(2), 1]),
    "tensor range and tensor": lambda t: t.tensor([range(2), t.tensor(1)]),
    "tensor bytes": lambda t: t.tensor([b"ab"]),
    "tensor dict": lambda t: t.tensor([{1: 2}]),
    "tensor set": lambda t: t.tensor([{1}]),
    "tensor class": lambda t: t.tensor([[Countdown]]),
    "tensor large tuple": lambda t: t.tensor((1, 1 << 70)),
    "as_tensor dtype": lambda t: t.as_tensor([1], dtype=str),
    "asarray keyword": lambda t: t.asarray([1], foo=1),
    "new_tensor dtype": lambda t: t.ones(2).new_tensor([1.5], dtype=str),
    "new_tensor str": lambda t: t.ones(2).new_tensor("abc"),
    "new_tensor gradient": lambda t: t.ones(2).long().new_tensor(5, requires_grad=True),
    "type python": lambda t: t.ones(2).type(int),
    "type number": lambda t: t.ones(2).type(3),
    "arange bool": lambda t: t.arange(3, dtype=bool),
    "nonzero out": lambda t: t.nonzero(t.ones(3), out=t.ones(3)),
    "nonzero keyword": lambda t: t.ones(3).nonzero(foo=3),
    "masked_select out": lambda t: t.masked_select(t.ones(3), t.ones(3) > 0, out=t.empty(0, dtype=t.int64)),
    "index_put None": lambda t: t.index_put(t.ones(1, 2), [None, t.tensor([0])], t.tensor(1.0)),
}


@pytest.mark.parametrize("call", VALUES.values(), ids=VALUES.keys())
def test_same_value(call):
    assert_same_value(lambda: call(mt), lambda: call(torch))


@pytest.mark.parametrize("call", ERRORS.values(), ids=ERRORS.keys())
def test_same_error(call):
    assert_torch_error(lambda: call(mt), lambda: call(torch))


@pytest.mark.parametrize("call", [lambda t, x: t.tensor(x), lambda t, x: x.new_tensor(x)])
def test_copying_a_tensor_warns(call):
    for side in (mt, torch):
        with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended to use") as seen:
            call(side, side.ones(2))
        assert seen[0].filename == __file__


def test_indices_of_an_assignment_may_leave_dimensions_out():
    for side in (mt, torch):
        target = side.zeros(1, 2, 3)
        target[:, side.tensor([0]), side.tensor([[1]])] = 9.0
        assert target.sum() == 9.0
        assert target[0, 0, 1] == 9.0
