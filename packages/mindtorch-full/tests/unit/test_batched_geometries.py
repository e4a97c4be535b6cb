"""What `vmap` keeps of a geometry that it has met: later calls need no rule, and give what the rule would give."""

import math

import pytest

import mindtorch as torch
from mindtorch_dispatch.batching import calls


@pytest.fixture
def computed(monkeypatch):
    """The names of the operators that rules, or loops, compute."""
    names = []

    def noting(row, *rest):
        names.append(row.name)
        return compute(row, *rest)

    compute = calls.compute
    monkeypatch.setattr(calls, "compute", noting)
    return names


def test_a_rule_runs_once_for_a_geometry(computed):
    weight = torch.randn(5, 3)
    each = torch.vmap(torch.func.grad(lambda x: torch.nn.functional.linear(x, weight).tanh().sum()))
    first, second = torch.randn(4, 3), torch.randn(4, 3)
    each(first)
    assert computed
    computed.clear()
    found = each(second)
    assert not computed
    expected = torch.stack([(1 - (weight @ one).tanh() ** 2) @ weight for one in second])
    torch.testing.assert_close(found, expected)


def test_another_layout_and_another_mapped_dimension_are_other_geometries():
    x = torch.arange(12.0).reshape(3, 4)
    for given, dim in ((x, 0), (x, 1), (x.t().contiguous().t(), 0), (x, 0)):
        found = torch.vmap(lambda one: one.cumsum(0), in_dims=dim)(given)
        expected = torch.stack([one.cumsum(0) for one in given.unbind(dim)])
        assert torch.equal(found, expected)


def test_numbers_are_those_of_the_call():
    x = torch.ones(3)
    for number in (2.0, 3.0, 2, True, 0.0, -0.0):
        found = torch.vmap(lambda one, number=number: torch.copysign(one, number) + one * number)(x)
        assert torch.equal(found, torch.copysign(x, number) + x * number)
    assert math.copysign(1.0, torch.vmap(lambda one: one * -0.0)(x)[0]) == -1.0


@pytest.mark.parametrize("op", [torch.div, torch.mul, torch.atan2, torch.dot, torch.stack])
def test_a_tensor_given_twice_is_another_geometry_than_two_tensors(op):
    x, y, z = torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)
    call = (lambda *each: op(each)) if op is torch.stack else op
    each = torch.vmap(call)
    torch.testing.assert_close(torch.vmap(lambda one: call(one, one))(x), torch.stack([call(one, one) for one in x]))
    for other in (y, z, x):
        expected = torch.stack([call(one, two) for one, two in zip(x, other, strict=True)])
        torch.testing.assert_close(each(x, other), expected)


def test_which_of_three_tensors_are_the_same_is_part_of_the_geometry():
    x, y, z = torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)
    for places in ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 2)):
        given = [(x, y, z)[place] for place in places]
        found = torch.vmap(lambda *each, places=places: torch.addcmul(*[each[place] for place in places]))(x, y, z)
        torch.testing.assert_close(found, torch.addcmul(*given))


def test_a_write_of_a_tensor_into_itself_is_another_geometry_than_of_another():
    def write(one, two, same):
        made = one.clone()
        return made.sub_(made if same else two)

    x, y = torch.randn(2, 3), torch.randn(2, 3)
    for same in (True, False, True):
        found = torch.vmap(lambda one, two, same=same: write(one, two, same))(x, y)
        torch.testing.assert_close(found, torch.zeros(2, 3) if same else x - y)


def test_gradients_of_a_tensor_given_twice_are_not_those_of_two():
    x, y = torch.randn(4), torch.randn(4)
    torch.testing.assert_close(torch.vmap(torch.func.grad(lambda one: one * one))(x), 2 * x)
    first, second = torch.vmap(torch.func.grad(lambda one, two: one * two, argnums=(0, 1)))(x, y)
    torch.testing.assert_close(first, y)
    torch.testing.assert_close(second, x)
    torch.testing.assert_close(torch.vmap(torch.func.grad(lambda one: one / one.detach()))(x), 1 / x)


def test_views_start_where_they_start():
    whole = torch.arange(24.0)
    for start in (0, 12):
        part = whole[start : start + 12].reshape(3, 4)
        found = torch.vmap(lambda one: one.as_strided((2,), (2,)))(part)
        assert found[0].tolist() == [part[0, 0].item(), part[0, 2].item()]


def test_writes_and_views_are_done_anew():
    def write(one):
        made = one.clone()
        view = made[1:]
        view.add_(one[0])
        made.mul_(2)
        return made, view

    for _ in range(3):
        x = torch.randn(4, 3)
        made, view = torch.vmap(write)(x)
        expected = x.clone()
        expected[:, 1:] += x[:, :1]
        assert torch.equal(made, expected * 2)
        assert torch.equal(view, made[:, 1:])


def test_what_values_decide_is_decided_anew():
    x = torch.arange(6.0).reshape(2, 3)
    for mask in ([True, False, True], [False, False, True], [True, True, True]):
        chosen = torch.tensor(mask)
        assert torch.equal(torch.vmap(lambda one, chosen=chosen: one[chosen])(x), x[:, chosen])
        assert torch.equal(torch.vmap(torch.masked_select, (0, None))(x, chosen), x[:, chosen])


def test_levels_of_levels():
    x, y = torch.randn(3, 4), torch.randn(5, 4)
    outer = torch.vmap(torch.vmap(torch.dot, (None, 0)), (0, None))
    for _ in range(2):
        torch.testing.assert_close(outer(x, y), x @ y.t())
    each = torch.vmap(torch.func.hessian(lambda one: (one.sin() * one.exp()).sum()))
    for given in (x, torch.randn(3, 4)):
        second = 2 * given.cos() * given.exp()
        torch.testing.assert_close(each(given), torch.diag_embed(second))


def test_errors_come_again():
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            torch.vmap(torch.mm, (0, None))(torch.ones(2, 3, 4), torch.ones(5, 6))


def test_a_rule_of_the_program_is_asked_every_time():
    asked = []

    @torch.library.custom_op("geometries::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_vmap
    def rule(info, dims, x):
        asked.append(info.batch_size)
        return x * 2, dims[0]

    for _ in range(3):
        assert torch.equal(torch.vmap(twice)(torch.ones(4, 2)), torch.full((4, 2), 2.0))
    assert asked == [4, 4, 4]
