"""Errors of numpy and Python that would reach a program are torch's instead: sizes, places and memory that do not fit."""

from __future__ import annotations

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

NAN, INF = float("nan"), float("inf")
BOTH = {
    "factor of nan": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 4), scale_factor=NAN),
    "infinite factor": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 4, 4), scale_factor=INF, mode="bilinear"),
    "factor beyond integers": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 4), scale_factor=1e30),
    "factors by operator": lambda t: t.ops.aten.upsample_nearest1d.vec(t.ones(1, 1, 4), None, [-INF]),
    "range beyond integers": lambda t: t.arange(2**63),
    "elements beyond integers": lambda t: t.ones(1).expand(2**40, 2**40),
    "elements of a view": lambda t: t.ones(4).as_strided((2**40, 2**40), (0, 0)),
    "operand as a smaller output": lambda t: (lambda a: t.add(a, t.ones(7), out=a))(t.tensor(0.0)),
    "operand as a larger output": lambda t: (lambda a: t.special.zeta(t.ones(0), a, out=a))(t.tensor(0.0)),
    "branch beyond the dtype": lambda t: t.where(t.tensor([True]), t.tensor([1], dtype=t.int8), 300),
    "list of a short storage": lambda t: short(t).tolist(),
    "product of a short storage": lambda t: t.mm(*[short(t).view(2, 2)] * 2),
    "softmax of a short storage": lambda t: t.softmax(short(t), 0),
}


def short(t):
    """A tensor whose storage was emptied."""
    made = t.ones(4)
    made.untyped_storage().resize_(0)
    return made


@pytest.mark.parametrize("name", BOTH)
def test_error_is_torchs(name: str) -> None:
    assert_torch_error(lambda: BOTH[name](torch), lambda: BOTH[name](mt))


@pytest.mark.parametrize(
    "used",
    [lambda x: x + 1, lambda x: x.sum(), lambda x: x.clone(), lambda x: x.mul_(2), lambda x: x.numpy(), lambda x: x.sort(),
     lambda x: x[1].item(), lambda x: mt.cat([x, x]), lambda x: x.copy_(mt.ones(4))],
)  # fmt: skip
def test_short_storage_is_refused_where_torch_reads_beside_it(used) -> None:
    x = short(mt)
    with pytest.raises(RuntimeError, match="its data is not allocated yet"):
        used(x)
    x.untyped_storage().resize_(16)
    assert x.fill_(2).tolist() == [2.0] * 4


def test_labels_that_are_no_class_are_refused() -> None:
    scores = mt.zeros(5, 1, 4)
    for label in (4, -1, 2**62):
        with pytest.raises(RuntimeError, match=f"Expected targets to have value at .*, but got value {label} "):
            mt.nn.functional.ctc_loss(scores, mt.tensor([[1, label]]), (5,), (2,))


@pytest.mark.parametrize("place", [99, -1, 2**62])
def test_places_outside_of_the_plane_are_refused(place: int) -> None:
    index = mt.full((1, 1, 2, 2), place)
    with pytest.raises(RuntimeError, match=f"Found an invalid max index: {place} "):
        mt.ops.aten.max_pool2d_with_indices_backward(
            mt.ones(1, 1, 2, 2), mt.ones(1, 1, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False, index
        )
    with pytest.raises(RuntimeError, match=f"Found an invalid max index: {place} "):
        mt.ops.aten.adaptive_max_pool2d_backward(mt.ones(1, 1, 2, 2), mt.ones(1, 1, 4, 4), index)


@pytest.mark.parametrize(("driver", "place"), [("gelsy", 4), ("gelsd", 4), ("gelss", 4), ("gels", 5)])
def test_least_squares_of_nan(driver: str, place: int) -> None:
    def call(t):
        return t.linalg.lstsq(t.full((3, 2), NAN), t.ones(3, 1), driver=driver)

    text = f"torch.linalg.lstsq: Argument {place} has illegal value."
    for t in (torch, mt):
        with pytest.raises(RuntimeError, match=text):
            call(t)


def test_least_squares_of_infinities() -> None:
    for t in (torch, mt):
        assert t.linalg.lstsq(t.full((3, 2), INF), t.ones(3, 1)).solution.isnan().all()


def test_steps_over_one_element_reach_anywhere() -> None:
    for t in (torch, mt):
        view = t.arange(4.0).as_strided((1, 2), (2**62, 1))
        assert view.stride() == (2**62, 1)
        assert (view + 1).tolist() == [[1.0, 2.0]]
        assert view.t().contiguous().tolist() == [[0.0], [1.0]]
        assert view.sum().item() == 1.0
        assert view.numpy().tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("values", [[3.4e38, 1.0], [[3.4e38, 1.0], [1.0, 3.4e38]], [3.4e38, -3.4e38, 1.0], [1e30, 1.0]])
def test_spread_of_large_numbers(values, correction: int) -> None:
    for name in ("std", "std_mean", "var"):
        theirs, ours = (getattr(t, name)(t.tensor(values), 0, correction=correction) for t in (torch, mt))
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (theirs, ours)), strict=True):
            assert other.tolist() == pytest.approx(one.tolist(), rel=1e-6)
