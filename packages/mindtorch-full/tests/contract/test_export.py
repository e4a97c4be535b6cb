"""`torch.export.export`: graphs, signatures and modules are torch's, for the sizes of the arguments."""

import pytest

import mindtorch as mt
import mindtorch.export as ours
import mindtorch.export.graph_signature as our_signature

from .export_precisions import precisions  # noqa: F401  # a fixture

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.export", reason="oracle")
pytestmark = pytest.mark.usefixtures("precisions")


def net(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = t.nn.Linear(4, 4)
            self.norm = t.nn.BatchNorm1d(4)
            self.register_buffer("saved", t.ones(4))
            self.register_buffer("unsaved", t.ones(4), persistent=False)
            self.constant = t.full((4,), 2.0)
            self.rest = t.nn.Sequential(t.nn.Linear(4, 2), t.nn.ReLU())

        def forward(self, x, y=None, *, scale=2):
            h = self.norm(self.first(x)) + self.saved + self.unsaved * self.constant
            self.saved.add_(1)
            return {"out": self.rest(h if y is None else h + y) * scale, "x": x}

    t.manual_seed(0)
    return Net(), (t.ones(3, 4),), {"scale": 3}


def tied(t):
    class Tied(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = t.nn.Linear(4, 4, bias=False)
            self.c = t.nn.Linear(4, 4, bias=False)
            self.c.weight = self.a.weight

        def forward(self, x):
            return self.c(self.a(x))

    t.manual_seed(0)
    return Tied(), (t.ones(3, 4),), {}


def written(t):
    class Written(t.nn.Module):
        def forward(self, x):
            x.add_(1)
            return x * 2, x

    return Written(), (t.ones(3, 4),), {}


def containers(t):
    class Containers(t.nn.Module):
        def forward(self, x, d, *more, add=None, **rest):
            add_ = x + d["a"] + d["b"][0] * more[0]
            return [add_, rest["z"] - 1, 3, None]

    return Containers(), (t.ones(2), {"a": t.ones(1), "b": [t.ones(2)]}, t.ones(2)), {"add": None, "z": t.ones(3)}


def language(t):
    class Attention(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = t.nn.Embedding(7, 8)
            self.layer = t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
            self.head = t.nn.Linear(8, 7)

        def forward(self, ids):
            h = self.layer(self.words(ids))
            return t.nn.functional.cross_entropy(self.head(h).flatten(0, 1), ids.flatten())

    t.manual_seed(0)
    return Attention(), (t.tensor([[1, 2, 3]]),), {}


def images(t):
    t.manual_seed(0)
    made = t.nn.Sequential(
        t.nn.Conv2d(3, 4, 3), t.nn.BatchNorm2d(4), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(), t.nn.Linear(36, 2)
    )
    return made.eval(), (t.ones(1, 3, 8, 8),), {}


PROGRAMS = [net, tied, written, containers, language, images]


def exported(t, library, program):
    module, args, kwargs = program(t)
    return library.export(module, args, kwargs)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_graphs_and_signatures_are_torchs(program):
    made, wanted = exported(mt, ours, program), exported(torch, theirs, program)
    assert made.graph_module.code == wanted.graph_module.code
    assert str(made.graph_signature) == str(wanted.graph_signature)
    assert list(made.state_dict) == list(wanted.state_dict)
    assert set(made.constants) == set(wanted.constants)
    assert repr(made.call_spec) == repr(wanted.call_spec)
    assert [repr(one) for one in made.module_call_graph] == [repr(one) for one in wanted.module_call_graph]
    assert made.dialect == wanted.dialect
    plain = [line for line in str(wanted).splitlines() if "# File" not in line and line.strip()]
    assert [line for line in str(made).splitlines() if "# File" not in line and line.strip()] == plain


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_modules_of_programs_are_torchs(program):
    made, wanted = exported(mt, ours, program).module(), exported(torch, theirs, program).module()
    assert made.code == wanted.code
    for listed in ("named_parameters", "named_buffers"):
        assert [name for name, _ in getattr(made, listed)()] == [name for name, _ in getattr(wanted, listed)()]


def test_a_program_computes_what_its_module_does():
    for program in (net, tied, containers, language, images):
        module, args, kwargs = program(mt)
        expected = program(mt)[0](*args, **kwargs)
        mt.testing.assert_close(ours.export(module, args, kwargs).module()(*args, **kwargs), expected)


def test_gradients_and_buffers_are_the_programs():
    module, args, kwargs = net(mt)
    program = ours.export(module, args, kwargs)
    assert not mt.equal(module.norm.running_var, mt.zeros(4))  # nothing was computed while it was exported
    assert mt.equal(module.saved, mt.ones(4))
    called = program.module()
    called(*args, **kwargs)["out"].sum().backward()
    other, args, kwargs = net(mt)
    other(*args, **kwargs)["out"].sum().backward()
    for (name, parameter), expected in zip(called.named_parameters(), other.parameters(), strict=True):
        mt.testing.assert_close(parameter.grad, expected.grad, msg=name)
    mt.testing.assert_close(called.saved, other.saved)
    mt.testing.assert_close(dict(program.named_buffers())["norm.running_mean"], other.norm.running_mean)


class Numbers:
    def __init__(self, t):
        class Module(t.nn.Module):
            def forward(self, x, d, n=2, *, f=1.5, word="a", yes=True, none=None):
                return x * n * f + d["a"]

        self.x, self.y = t.ones(2, 3), t.ones(2, 3)
        self.known = {"f": 2.5, "word": "q", "yes": False, "none": None}
        library = ours if t is mt else theirs
        self.module = library.export(Module(), (self.x, {"a": self.y}, 3), self.known).module()


CALLS = [
    lambda one: one.module(one.x, {"a": one.y}, 4, **one.known),
    lambda one: one.module(one.x, {"a": one.y}, 3, **{**one.known, "f": 3.5}),
    lambda one: one.module(one.x, {"a": one.y}, 3, **{**one.known, "word": "r"}),
    lambda one: one.module(one.x, {"a": one.y}, 3, **{**one.known, "yes": True}),
    lambda one: one.module(one.x, {"a": one.y[:1]}, 3, **one.known),
    lambda one: one.module(one.x[:, :1], {"a": one.y}, 3, **one.known),
    lambda one: one.module(one.x, {"c": one.y}, 3, **one.known),
    lambda one: one.module(one.x, [one.y], 3, **one.known),
    lambda one: one.module(one.x, {"a": one.y}, **one.known),
    lambda one: one.module(one.x, {"a": one.y}, 3, 4, **one.known),
    lambda one: one.module(one.x, {"a": one.y}, 3),
    lambda one: one.module.eval(),
    lambda one: one.module.train(),
]


@pytest.mark.parametrize("call", CALLS)
def test_other_calls_are_refused_as_by_torch(call):
    def refused(t):
        one = Numbers(t)
        with pytest.raises(Exception) as caught:  # noqa: PT011  # torch says which
            call(one)
        return type(caught.value).__name__, str(caught.value)

    assert refused(mt) == refused(torch)


REFUSED = [
    lambda t, e: e.export(lambda x: x, (t.ones(2),)),
    lambda t, e: e.export(t.nn.ReLU(), t.ones(2)),
    lambda t, e: e.export(t.nn.ReLU(), (t.ones(2),))(t.ones(2)),
    lambda t, e: e.graph_signature.InputSpec(
        e.graph_signature.InputKind.BUFFER, e.graph_signature.TensorArgument("b"), "b"
    ),
]


@pytest.mark.parametrize("call", REFUSED)
def test_wrong_arguments_are_refused_as_by_torch(call):
    def refused(t, library):
        with pytest.raises(Exception) as caught:  # noqa: PT011  # torch says which
            call(t, library)
        return type(caught.value).__name__, str(caught.value)

    assert refused(mt, ours) == refused(torch, theirs)


def test_what_is_not_offered_raises():
    x = mt.ones(3, 4)

    class Branch(mt.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(RuntimeError, match="trying to get value out of a tracing tensor"):
        ours.export(Branch(), (x,))


def test_a_block_without_gradients_stays_one():
    class Block(mt.nn.Module):
        def forward(self, x):
            with mt.no_grad():
                y = x.sin()
            return y * x

    x = mt.ones(3, requires_grad=True)
    ours.export(Block(), (x,)).module()(x).sum().backward()
    mt.testing.assert_close(x.grad, mt.ones(3).sin())


def test_signatures_name_their_parts():
    made, wanted = exported(mt, ours, net).graph_signature, exported(torch, theirs, net).graph_signature
    for name in (
        "parameters buffers non_persistent_buffers lifted_tensor_constants user_inputs user_outputs input_tokens "
        "output_tokens lifted_custom_objs backward_signature assertion_dep_token"
    ).split():
        assert getattr(made, name) == getattr(wanted, name), name
    for name in (
        "inputs_to_parameters inputs_to_buffers inputs_to_lifted_tensor_constants buffers_to_mutate parameters_to_mutate "
        "user_inputs_to_mutate inputs_to_lifted_custom_objs"
    ).split():
        assert dict(getattr(made, name)) == dict(getattr(wanted, name)), name
    made.replace_all_uses("x", "renamed")
    assert made.user_inputs == ("renamed", 3)
    assert our_signature.OutputKind.USER_OUTPUT.name == "USER_OUTPUT"
