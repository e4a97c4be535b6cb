"""Which devices mix in one call, and what overloads and packets say of themselves, against torch."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")
mt = pytest.importorskip("mindtorch", reason="the assembled surface")

from mindtorch_testing import assert_torch_error  # noqa: E402

BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "lt", "atan2", "fmod", "remainder"]


def geometry(module, name, left, right):
    result = getattr(module, name)(left(module), right(module))
    return result.device.type, tuple(result.shape), str(result.dtype)


def vector(device):
    return lambda module: module.ones(2, 3, device=device)


def scalar(device):
    return lambda module: module.ones((), device=device, dtype=module.float64)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("swap", [False, True])
def test_a_cpu_scalar_mixes_with_another_device(name, swap):
    operands = (scalar("cpu"), vector("meta")) if swap else (vector("meta"), scalar("cpu"))
    assert geometry(mt, name, *operands) == geometry(torch, name, *operands)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("right", [vector("meta"), scalar("meta")], ids=["vector", "scalar"])
def test_other_mixtures_are_refused(name, right):
    for operands in ((vector("cpu"), right), (right, vector("cpu"))):
        assert_torch_error(lambda: geometry(mt, name, *operands), lambda: geometry(torch, name, *operands))  # noqa: B023


OVERLOADS = [
    "add.Tensor",
    "mm.default",
    "sum.dim_IntList",
    "relu.default",
    "view.default",
    "cat.default",
    "mul_.Tensor",
]


@pytest.mark.parametrize("text", OVERLOADS)
def test_an_overload_describes_itself_as_torchs(text):
    def facts(module):
        packet, overload = text.split(".")
        op = getattr(getattr(module.ops.aten, packet), overload)
        return str(op), repr(op), op.name(), op.namespace, op._overloadname, str(op._schema), str(op.overloadpacket)

    assert facts(mt) == facts(torch)


@pytest.mark.parametrize(
    "reach",
    [lambda m: m.ops.aten.nope, lambda m: m.ops.aten.add.Nope, lambda m: m.ops.nons.foo],
    ids=["packet", "overload", "namespace"],
)
def test_an_unknown_operator_is_refused_with_torchs_text(reach):
    with pytest.raises(AttributeError) as theirs:
        reach(torch)
    with pytest.raises(AttributeError) as ours:
        reach(mt)
    assert str(ours.value) == str(theirs.value)


def test_what_a_subclass_says_of_its_device_moves_no_operator(monkeypatch):
    def computed(module):
        operand = module.ones(2, dtype=module.float64)
        with monkeypatch.context() as patched:
            patched.setattr(module.Tensor, "device", property(lambda self: module.device("cuda")))
            result = operand.to(module.float32) + operand
        return result.tolist(), result.device.type

    assert computed(mt) == computed(torch) == ([2.0, 2.0], "cpu")
