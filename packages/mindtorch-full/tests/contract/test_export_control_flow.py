"""`torch.cond` and `while_loop` in programs that are traced and exported: both functions are kept, as in torch."""

import importlib

import pytest

import mindtorch as mt

from .export_precisions import precisions  # noqa: F401  # a fixture

torch = pytest.importorskip("torch", reason="oracle")
pytestmark = pytest.mark.usefixtures("precisions")


def layers(t):
    class Layers(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = t.nn.Linear(3, 3, bias=False)
            self.b = t.nn.Linear(3, 3, bias=False)
            self.w = t.nn.Parameter(t.ones(3))
            self.register_buffer("offset", t.full((3,), 0.5))

        def forward(self, x, y):
            z = x * 2
            return t.cond(
                x.sum() > 0,
                lambda x: self.a(x) * self.w + z,
                lambda x: self.b(x) + self.offset + self.w * y,
                (x,),
            )

    t.manual_seed(0)
    return Layers(), [(t.ones(2, 3), t.ones(3)), (-t.ones(2, 3), t.ones(3))]


def nested(t):
    class Nested(t.nn.Module):
        def forward(self, x):
            def inner(x):
                return t.cond(x.max() > 2, lambda x: x + 2, lambda x: x + 1, (x,))

            return t.cond(x.sum() > 0, inner, lambda x: x * 0, (x,))

    return Nested(), [(t.ones(2),), (t.full((2,), 3.0),), (-t.ones(2),)]


def structures(t):
    class Structures(t.nn.Module):
        def forward(self, pred, x):
            return t.cond(pred, lambda x: (x + 1, {"k": x - 1}), lambda x: (x.sin(), {"k": x * 2}), [x])

    return Structures(), [(t.tensor(True), t.ones(2)), (t.tensor(False), t.ones(2))]


def known(t):
    class Known(t.nn.Module):
        def forward(self, x):
            return t.cond(x.shape[0] > 1, lambda x: x + 1, lambda x: x - 1, (x,))

    return Known(), [(t.ones(2),)]


def loop(t):
    class Loop(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = t.nn.Linear(2, 2, bias=False)

        def forward(self, i, x):
            return t._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, self.layer(x) + x), (i, x))

    t.manual_seed(0)
    return Loop(), [(t.tensor(0), t.ones(1, 2)), (t.tensor(2), t.ones(1, 2)), (t.tensor(7), t.ones(1, 2))]


def around(t):
    """The loop's functions use a tensor from around them, of the geometry of what the loop carries."""

    class Around(t.nn.Module):
        def forward(self, x):
            return t._higher_order_ops.while_loop(lambda y: y.sum() < 20, lambda y: (y + x,), (x * 1,))

    return Around(), [(t.ones(2),), (t.full((2,), 3.0),)]


PROGRAMS = (layers, nested, structures, known, loop, around)


def numbers(t, value):
    return [one.tolist() for one in t.utils._pytree.tree_leaves(value)]


def shown(program):
    """The graph and those in it: what each node is, and how many results there are."""
    modules = [
        program.graph_module,
        *(one for one in program.graph_module.modules() if one is not program.graph_module),
    ]
    return [
        [(node.op, str(node.target).split(" at 0x")[0].replace("mindtorch", "torch")) for node in module.graph.nodes]
        for module in modules
        if hasattr(module, "graph")
    ]


def of_program(t, make):
    module, calls = make(t)
    program = t.export.export(module, calls[0])
    lowered = program.run_decompositions()
    found = []
    for call in calls:
        expected = numbers(t, module(*call))
        assert numbers(t, program.module()(*call)) == expected
        assert numbers(t, lowered.module()(*call)) == expected
        found.append(expected)
    return found, shown(program), [one.name for one in program.graph.nodes]


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_both_functions_run_as_in_torch(make):
    (values, graphs, names), (their_values, their_graphs, their_names) = of_program(mt, make), of_program(torch, make)
    assert mt.allclose(mt.tensor(_flat(values)), mt.tensor(_flat(their_values)))
    if (
        make is layers
    ):  # torch's own order of the tensors that a function finds around it is that of its analyser's names
        graphs, their_graphs = ([sorted(one) for one in found] for found in (graphs, their_graphs))
    assert graphs == their_graphs
    assert names == their_names


def _flat(value):
    return [value] if not isinstance(value, list) else [one for part in value for one in _flat(part)]


def test_gradients_pass_a_choice():
    def of(t):
        module, calls = layers(t)
        program = t.export.export(module, calls[0]).module()
        made = program(*calls[1])
        made.sum().backward()
        grads = {name: one.grad.tolist() for name, one in program.named_parameters()}
        return made.grad_fn.name(), grads

    assert of(mt) == of(torch)


def test_a_traced_choice_keeps_both():
    def of(t):
        make_fx = importlib.import_module(f"{t.__name__}.fx.experimental.proxy_tensor").make_fx
        traced = make_fx(lambda p, x: t.cond(p, lambda x: x.sin(), lambda x: x.cos(), (x,)))(t.tensor(True), t.ones(2))
        op = t.ops.higher_order.cond
        return traced(t.tensor(False), t.zeros(2)).tolist(), str(op), type(op).__name__

    assert of(mt) == of(torch)


@pytest.mark.parametrize(
    ("yes", "no", "what"),
    [
        (lambda x: x.add_(1), lambda x: x.clone(), "input mutation"),
        (lambda x: x, lambda x: x + 1, "aliasing"),
        (lambda x: x + 1, lambda x: x.view(-1), "aliasing"),
    ],
)
def test_functions_with_effects_are_refused(yes, no, what):
    def refusal(t):
        class Module(t.nn.Module):
            def forward(self, x):
                return t.cond(x.sum() > 0, yes, no, (x,))

        with pytest.raises(RuntimeError, match=f"Encountered {what} during higher order op tracing") as raised:
            t.export.export(Module(), (t.ones(3),))
        return type(raised.value).__name__

    assert refusal(mt) == refusal(torch)


@pytest.mark.parametrize(
    ("yes", "no"),
    [(lambda x: x + 1, lambda x: x.sum()), (lambda x: x + 1, lambda x: (x * 2).long()), (lambda x: 3, lambda x: 4)],
)
def test_what_is_not_recorded_is_said(yes, no):
    class Module(mt.nn.Module):
        def forward(self, x):
            return mt.cond(x.sum() > 0, yes, no, (x,))

    with pytest.raises(NotImplementedError, match="not recorded"):
        mt.export.export(Module(), (mt.ones(3),))


def test_choices_are_not_archived(tmp_path):
    module, calls = nested(mt)
    with pytest.raises(NotImplementedError, match=r"torch.export.save: programs with torch.cond or while_loop"):
        mt.export.save(mt.export.export(module, calls[0]), tmp_path / "choice.pt2")


def doubled(t):
    class Doubled(t.nn.Module):
        def forward(self, x):
            return t.cond(x.sum() > 0, lambda x: x.view(x.shape[0] * 2).clone(), lambda x: x.flatten() * 3, (x,))

    return Doubled(), t.ones(4, 2)


def centred(t):
    class Centred(t.nn.Module):
        def forward(self, x):
            return t.cond(x.sum() > 0, lambda x: x[:, None] - x.mean(0), lambda x: x[:, None] + 1, (x,))

    return Centred(), t.ones(4, 2)


def inside(t):
    return nested(t)[0], t.ones(4, 2)


def texts(module):
    """The graphs of a program's functions, but for their own names of values."""
    found = []
    for name, inner in module.named_children():
        if hasattr(inner, "graph"):
            calls = [(node.op, str(node.target), len(node.args)) for node in inner.graph.nodes]
            found += [(name, calls), *texts(inner)]
    return found


@pytest.mark.parametrize("program", [doubled, centred, inside])
@pytest.mark.parametrize("lowered", [False, True])
def test_sizes_vary_in_the_functions_of_a_choice(program, lowered):
    results = []
    for t in (torch, mt):
        module, x = program(t)
        made = t.export.export(module, (x,), dynamic_shapes=({0: t.export.Dim("n", max=50)},))
        made = made.run_decompositions() if lowered else made
        run = made.module()
        values = [run(sign * t.ones(rows, 2)).tolist() for rows in (2, 7) for sign in (1, 3, -1)]
        with pytest.raises(AssertionError) as refused:
            run(t.ones(51, 2))
        results.append(
            (str(made.graph), texts(made.graph_module), str(made.range_constraints), values, str(refused.value))
        )
    assert results[1] == results[0]


def test_sizes_that_a_function_is_not_given_are_refused():
    class Module(mt.nn.Module):
        def forward(self, x, y):
            rows = x.shape[0]
            return mt.cond(y.sum() > 0, lambda y: y.expand(rows, 3) + 1, lambda y: y.expand(rows, 3) * 2, (y,))

    with pytest.raises(
        NotImplementedError, match=r"in a function of torch.cond or while_loop is s77, which no argument"
    ):
        mt.export.export(Module(), (mt.ones(4, 2), mt.ones(3)), dynamic_shapes=({0: mt.export.Dim("n")}, None))
