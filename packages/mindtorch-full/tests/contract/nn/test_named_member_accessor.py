"""`torch.nn.utils._named_member_accessor`, call by call beside torch."""

import importlib

import pytest

torch = pytest.importorskip("torch", reason="oracle")

CALLS = """
a.get_submodule("0.1").bias.shape
a.get_submodule("") is m
a.get_submodule("0.7")
a.get_submodule("0.1.weight")
a.swap_submodule("1", T.nn.Linear(2, 5)), m[1]
a.swap_submodule("1", 3)
a.swap_submodule("7", T.nn.Linear(2, 5))
a.swap_submodule("", T.nn.Linear(2, 5))
a.get_tensor("0.1.bias").shape
a.get_tensor("0.1.bad")
a.get_tensor("0.1.training")
a.set_tensor("0.1.bias", T.nn.Parameter(T.ones(7))), m[0][1].bias
a.set_tensor("0.1.bias", 3)
a.set_tensor("", T.ones(2))
a.set_tensor("0.1.extra", T.ones(2)), m[0][1].extra
a.set_tensors(["0.1.bias", "2.running_mean"], [T.zeros(7), T.ones(2)]), m[0][1].bias, m[2].running_mean
a.set_tensors(["0.1.bias"], [])
a.set_tensors_dict({"2.running_var": T.full((2,), 3.)}), m[2].running_var
a.del_tensor("0.1.bias"), [n for n, _ in m.named_parameters()]
a.del_tensor("0.1.bad")
a.del_tensors(["0.1.bias", "2.running_mean"]), [n for n, _ in m.named_buffers()]
a.swap_tensor("0.1.bias", T.zeros(1)), m[0][1].bias
a.swap_tensor("0.1.bad", T.zeros(1))
a.swap_tensor("0.1.bad", T.zeros(1), allow_missing=True) is N._MISSING, m[0][1].bad
a.swap_tensor("0.1.training", T.zeros(1))
a.swap_tensor("0.1.bias", "x")
a.swap_tensor("0.1.bias", N._MISSING), hasattr(m[0][1], "bias")
a.swap_tensors(["0.1.bias", "2.running_mean"], [T.zeros(1), T.ones(1)])
a.swap_tensors(["0.1.bias"], [T.zeros(1), T.ones(1)])
a.swap_tensors_dict({"0.1.bias": T.zeros(1)})
a.swap_tensors_dict({"0.1.bias": T.zeros(1), "0.1.bad": T.ones(1)}), m[0][1].bias
a.swap_tensors_dict({"0.1.bias": T.zeros(1), "0.1.bad": T.ones(1)}, allow_missing=True)[1], m[0][1].bad
a.swap_tensors_dict({"0.1.bias": T.zeros(1), "0.1.training": T.ones(1)})
a.check_keys(["0.1.bias", "other"])
[n for n, _ in a.named_parameters()], [n for n, _ in a.named_buffers()]
[n for n, _ in a.named_tensors()], [n for n, _ in a.named_modules()]
N.set_tensor(3, "x", T.ones(1))
N.set_tensor(m, "a.b", T.ones(1))
N.swap_tensor(m, "a.b", T.ones(1))
N.swap_submodule(m, "a.b", m)
""".strip().split("\n")


def answer(library, call):
    """What a call gives, tensors as lists, or the error it raises; and the names of what a failing call left."""
    torch = importlib.import_module(library)
    names = importlib.import_module(f"{library}.nn.utils._named_member_accessor")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(3, 2)), torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)
    )
    space = {"T": torch, "N": names, "m": model, "a": names.NamedMemberAccessor(model)}
    try:
        return str(eval(call, space))
    except (AttributeError, AssertionError, KeyError, RuntimeError, TypeError) as error:
        return type(error).__name__, str(error), sorted(model.state_dict()), model[0][1].bias.tolist()


@pytest.mark.parametrize("call", CALLS)
def test_as_torch(call):
    assert answer("mindtorch", call) == answer("torch", call)
