"""An optimizer lent other parameters steps on them and gets its own back, as torch's does."""

import copy

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")


def _optimizer(lib, steps=1):
    params = [lib.nn.Parameter(lib.ones(2)) for _ in range(2)]
    optimizer = lib.optim.Adam([{"params": params[:1]}, {"params": params[1:], "lr": 0.5}], lr=0.1)
    for _ in range(steps):
        for param in params:
            param.grad = lib.ones(2)
        optimizer.step()
    return optimizer


def _others(lib, count=2):
    found = {str(index): lib.zeros(2, requires_grad=True) for index in range(count)}
    for value in found.values():
        value.grad = lib.tensor([1.0, -2.0])
    return found


def _lent(lib):
    optimizer, others = _optimizer(lib), _others(lib)
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 1.0
    own = optimizer.param_groups[0]["params"][0]
    with lib.optim.swap_in_optimizer_params_and_state(optimizer, others, state) as entered:
        inside = [entered, optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["params"][0] is others["0"]]
        inside.append(optimizer.state[others["1"]]["exp_avg"] is state["state"][1]["exp_avg"])
        optimizer.step()
        optimizer.param_groups[0]["lr"] = 5.0
    after = [
        optimizer.param_groups[0]["lr"],
        optimizer.param_groups[0]["params"][0] is own,
        state["param_groups"][0]["lr"],
    ]
    values = [v.tolist() for v in (*others.values(), own, state["state"][0]["step"], optimizer.state[own]["step"])]
    return inside, after, [round(x, 5) for value in values for x in (value if isinstance(value, list) else [value])]


def test_steps_move_what_is_lent():
    assert _lent(mt) == _lent(torch)


def test_an_error_inside_gives_back():
    optimizer = _optimizer(mt)
    own, state = optimizer.param_groups[0]["params"][0], optimizer.state
    lent = mt.optim.swap_in_optimizer_params_and_state(optimizer, _others(mt), optimizer.state_dict())
    with pytest.raises(KeyError), lent:
        raise KeyError
    assert optimizer.param_groups[0]["params"][0] is own
    assert optimizer.state is state


def _changed(change):
    def make(lib):
        optimizer = _optimizer(lib)
        state = copy.deepcopy(optimizer.state_dict())
        change(state)
        return optimizer, _others(lib), state

    return make


WRONG = {
    "no state": lambda lib: (_optimizer(lib, 0), _others(lib), _optimizer(lib).state_dict()),
    "too few": lambda lib: (_optimizer(lib), _others(lib, 1), _optimizer(lib).state_dict()),
    "nothing": lambda lib: (_optimizer(lib), _others(lib), {}),
    "groups": _changed(lambda state: state["param_groups"].pop()),
    "group length": _changed(lambda state: state["param_groups"][1].update(params=[])),
    "extra state": _changed(lambda state: state["state"].update({7: {}})),
}


@pytest.mark.parametrize("case", WRONG)
def test_refusals(case):
    def call(lib):
        with lib.optim.swap_in_optimizer_params_and_state(*WRONG[case](lib)):
            raise AssertionError("entered")

    assert_torch_error(lambda: call(mt), lambda: call(torch))
