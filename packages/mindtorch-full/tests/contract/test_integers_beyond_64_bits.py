"""An argument is an integer of 64 bits, a plain number an unsigned one at most: torch refuses others before it looks further."""

from __future__ import annotations

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error
from mindtorch_testing.compare import call_for_error

torch = pytest.importorskip("torch", reason="oracle")

BIG, SMALL = 2**63, -(2**63) - 1

DIMS = {
    "select": lambda t, n: t.ones(4).select(0, n),
    "set_": lambda t, n: t.ones(2).set_(t.ones(2).untyped_storage(), n, (2,)),
    "narrow": lambda t, n: t.ones(4).narrow(0, n, 1),
    "sum": lambda t, n: t.ones(4).sum(n),
    "sum by name": lambda t, n: t.ones(4).sum(dim=n),
    "transpose": lambda t, n: t.ones(4, 4).transpose(0, n),
    "tril": lambda t, n: t.ones(4, 4).tril(n),
    "roll": lambda t, n: t.ones(4).roll(n),
    "chunk": lambda t, n: t.ones(4).chunk(n),
    "gather": lambda t, n: t.ones(4).gather(n, t.tensor([0])),
    "size": lambda t, n: t.ones(4).size(n),
    "stride": lambda t, n: t.ones(4).stride(n),
    "movedim": lambda t, n: t.movedim(t.ones(2, 2), 0, n),
    "randint": lambda t, n: t.randint(n, [2]),
    "random_": lambda t, n: t.ones(1).random_(0, n),
    "polygamma": lambda t, n: t.polygamma(n, t.ones(1)),
    "triu_indices": lambda t, n: t.triu_indices(n, 1),
    "multinomial": lambda t, n: t.multinomial(t.ones(3), n),
    "numpy": lambda t, n: t.ones(4).unsqueeze(t.tensor(1).numpy().item() * n),
}
LISTS = {
    "set_": lambda t, n: t.ones(2).set_(t.ones(2).untyped_storage(), 0, (n,)),
    "set_ with steps": lambda t, n: t.ones(2).set_(t.ones(2).untyped_storage(), 0, (2,), (n,)),
    "resize_": lambda t, n: t.ones(2).resize_(1, n),
    "ones": lambda t, n: t.ones(2, n),
    "view": lambda t, n: t.ones(4).view(n),
    "reshape": lambda t, n: t.ones(4).reshape([2, n]),
    "flip": lambda t, n: t.ones(4).flip(n),
    "permute": lambda t, n: t.ones(4).permute([n]),
    "split": lambda t, n: t.ones(4).split([2, n]),
    "hsplit": lambda t, n: t.hsplit(t.ones(4), [2, n]),
    "sum": lambda t, n: t.ones(4).sum([0, n]),
    "pad": lambda t, n: t.nn.functional.pad(t.ones(4), (n, 0)),
}
OVERLOADS = {
    "select": lambda t, n: t.ops.aten.select.int(t.ones(2), 0, n),
    "sum": lambda t, n: t.ops.aten.sum.dim_IntList(t.ones(2), [n]),
    "sum of a tuple": lambda t, n: t.ops.aten.sum.dim_IntList(t.ones(2), (1, n)),
    "view": lambda t, n: t.ops.aten.view.default(t.ones(2), [n]),
    "avg_pool2d": lambda t, n: t.ops.aten.avg_pool2d.default(t.ones(1, 2, 2), n),
    "polygamma_": lambda t, n: t.ops.aten.polygamma_.default(t.ones(1), n),
    "randint": lambda t, n: t.ops.aten.randint.low(1, n, [2]),
}
NUMBERS = {
    "mul": lambda t, n: t.ones(1) * n,
    "integers": lambda t, n: t.tensor([1]) * n,
    "reflected": lambda t, n: n - t.ones(1),
    "compared": lambda t, n: t.ones(1) > n,
    "in place": lambda t, n: t.ones(1).mul_(n),
    "fill_": lambda t, n: t.ones(1).fill_(n),
    "clamp": lambda t, n: t.ones(1).clamp(max=n),
    "alpha": lambda t, n: t.add(t.ones(1), 1, alpha=n),
    "elu": lambda t, n: t.nn.functional.elu(t.ones(1), n),
    "result_type": lambda t, n: t.result_type(t.ones(1), n),
    "where": lambda t, n: t.where(t.tensor(False), n, t.ones(1)),
    "full": lambda t, n: t.full((1,), n),
    "foreach": lambda t, n: t._foreach_add([t.ones(1)], n),
    "foreach list": lambda t, n: t._foreach_add([t.ones(1)], [n]),
    "overload": lambda t, n: t.ops.aten.add.Scalar(t.ones(1), n),
    "overload of tensors": lambda t, n: t.ops.aten.add.Tensor(t.ones(1), n),
}


@pytest.mark.parametrize("number", [BIG, SMALL, 2**64, 10**30])
@pytest.mark.parametrize("name", DIMS)
def test_a_single_integer(name: str, number: int) -> None:
    assert_torch_error(lambda: DIMS[name](mt, number), lambda: DIMS[name](torch, number))


@pytest.mark.parametrize("number", [BIG, SMALL])
@pytest.mark.parametrize("name", LISTS)
def test_an_element_of_a_list(name: str, number: int) -> None:
    """torch's text goes on with where in its C++ the error was raised."""
    ours, theirs = (call_for_error(lambda t=t: LISTS[name](t, number)) for t in (mt, torch))
    assert type(ours) is type(theirs) is TypeError
    assert str(ours) == str(theirs).split("\nException raised from")[0] + '"'


@pytest.mark.parametrize("number", [BIG, SMALL])
@pytest.mark.parametrize("name", OVERLOADS)
def test_an_argument_of_an_overload(name: str, number: int) -> None:
    assert_torch_error(lambda: OVERLOADS[name](mt, number), lambda: OVERLOADS[name](torch, number))


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number(name: str, number: int) -> None:
    assert_torch_error(lambda: NUMBERS[name](mt, number), lambda: NUMBERS[name](torch, number))


@pytest.mark.parametrize("before", [3, 2**63, -(2**63)])
def test_a_plan_for_numbers_that_fit_is_for_no_other(before: int) -> None:
    for _ in range(3):
        assert (mt.ones(1) * before).tolist() == [float(before)]
    for _ in range(2):
        with pytest.raises(OverflowError, match="int too big to convert"):
            mt.ones(1) * 2**64
        with pytest.raises(OverflowError, match="int too big to convert"):
            mt.mul(input=mt.ones(1), other=2**64)
        assert (mt.ones(1) * 5).tolist() == [5.0]
    for start in (0, 1, 2**63):
        if start < 2**63:
            assert mt.ones(4).select(0, start).item() == 1
        else:
            with pytest.raises(ValueError, match="Overflow when unpacking long long"):
                mt.ones(4).select(0, start)
