"""What `inspect` and `help` say of functions and methods of the op table."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

import mindtorch as mt
from mindtorch_dispatch.arguments.description import PacketSignature, python_forms

OWNERS = {"torch": mt, "Tensor": mt.Tensor, "torch._C._nn": mt._C._nn}


def described(owner):
    """The callables of a namespace that the op table describes."""
    found = {name: value for name, value in vars(OWNERS[owner]).items() if hasattr(value, "__signature__")}
    return {name: value for name, value in found.items() if isinstance(value.__signature__, PacketSignature)}


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (mt.add, "(input, other, *, alpha=1, out=None)"),
        (mt.Tensor.add, "(self, other, *, alpha=1)"),
        (mt.ones(1).add, "(other, *, alpha=1)"),
        (mt.Tensor.add_, "(self, other, *, alpha=1)"),
        (mt.sum, "(input, dim=..., keepdim=False, *, dtype=None, out=None)"),
        (mt.max, "(input, *args, out=None, **kwargs)"),
        (mt.Tensor.uniform_, "(self, *args, generator=None, **kwargs)"),
        (mt.nn.functional.linear, "(input, weight, bias=None, *, out=None)"),
        (mt.linalg.matrix_power, "(input, n, *, out=None)"),
        (mt.zeros, "(*size, out=None, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False)"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_signature(function, shown):
    found = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    assert str(inspect.Signature(bare)) == shown


def test_types():
    assert str(inspect.signature(mt.add)) == (
        "(input: 'Tensor | Number', other: 'Tensor | Number', *, alpha: 'Number' = 1, out: 'Tensor | None' = None) -> 'Tensor'"
    )
    assert inspect.signature(mt.topk).return_annotation == "return_types.topk"
    assert inspect.signature(mt.mean).parameters["dim"].annotation == "int | Sequence[int] | None"
    assert inspect.signature(mt.split_with_sizes).return_annotation == "tuple[Tensor, ...]"


@pytest.mark.parametrize("owner", OWNERS)
def test_every_form_fits_the_signature(owner):
    found = described(owner)
    assert len(found) > {"torch": 500, "Tensor": 400, "torch._C._nn": 30}[owner]
    for name, function in found.items():
        signature = inspect.signature(function)
        method = owner == "Tensor"
        for form in python_forms(signature.packet, method):
            before = [mt] if method else []
            places = form.parameters[: form.positional]
            keywords = {one.name: one for one in form.parameters[form.positional :]}
            signature.bind(*before, *places, **keywords)
            signature.bind(*before, *[one for one in places if not one.optional], **keywords), name


def unexpected(function, name):
    """Whether torch says that a function has no such keyword."""
    try:
        function(**{name: object()})
    except (TypeError, RuntimeError) as error:
        return f"unexpected keyword argument '{name}'" in str(error)
    return False


def test_parameters_have_torchs_names():
    torch = pytest.importorskip("torch", reason="oracle")
    checked = 0
    for name, function in described("torch").items():
        theirs = getattr(torch, name, None)
        if theirs is None or not callable(theirs) or name == "from_file":
            continue
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                checked += 1
                assert not unexpected(theirs, parameter.name), f"{name}({parameter.name}=)"
    assert checked > 2000


def test_signatures_are_copied_and_changed_as_others():
    found = inspect.signature(mt.add)
    assert pickle.loads(pickle.dumps(found)) == found == copy.deepcopy(found)
    assert found.replace(return_annotation=int).return_annotation is int
    assert list(found.replace(parameters=[]).parameters) == []
    assert found.bind(1, 2, alpha=3).arguments == {"input": 1, "other": 2, "alpha": 3}
    with pytest.raises(TypeError, match="unexpected keyword argument 'beta'"):
        found.bind(1, 2, beta=3)
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        found.no_such


DOCUMENTED = {
    "add": (
        mt.add,
        ["add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "With `out=`", "`add_` writes"],
    ),
    "add_": (
        mt.Tensor.add_,
        ["add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1)", "written to the tensor itself"],
    ),
    "view": (mt.Tensor.view, ["view(Tensor(a) self, SymInt[] size) -> Tensor(a)", "shares the tensor's memory"]),
    "nonzero": (mt.nonzero, ["nonzero(Tensor self) -> Tensor", "`self` is called `input`"]),
    "inv": (mt.linalg.inv, ["linalg_inv("]),
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documentation_names_the_forms(name):
    function, parts = DOCUMENTED[name]
    for part in parts:
        assert part in function.__doc__
    assert "add.Scalar" not in mt.add.__doc__  # reached as torch.ops.aten.add.Scalar alone


@pytest.mark.parametrize("owner", OWNERS)
def test_everything_has_documentation(owner):
    for name, function in described(owner).items():
        assert f"The operator `aten::{function.__signature__.packet.name}`" in function.__doc__, name
