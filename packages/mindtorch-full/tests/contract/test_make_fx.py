"""`make_fx`: the graphs that it records are torch's, node by node."""

from functools import partial

import pytest

import mindtorch as mt
import mindtorch.fx.experimental.proxy_tensor as ours

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.fx.experimental.proxy_tensor", reason="oracle")


def gradient(t, a):
    a = a.detach().requires_grad_()
    return t.autograd.grad((a.sin() * a).sum(), a)[0]


def written(t, a):
    b = a.clone()
    b.add_(1)
    b[0].mul_(2)
    return b


def literal(t, a):
    return a + t.tensor([1.0, 2.0, 3.0, 4.0])


def number(t, a):
    return a * t.tensor(2.0).item()


def unused(t, a):
    a.cos()
    t.randn(3)
    t.zeros(3).add_(1)
    return a + 1


def halves(t, a):
    one, other = a.chunk(2, 1)
    return {"product": one * other, "pair": [one, (other,)]}


def sorted_(t, a):
    return t.sort(a)


def random(t, a):
    return t.rand_like(a) + t.nn.functional.dropout(a, 0.5)


def shapes(t, a):
    return a.view(a.shape[1], a.shape[0]).reshape(-1)[2:5], a.t(), a.T.contiguous(), a.expand(2, 3, 4)


def into(t, a):
    out = t.empty_like(a)
    t.add(a, 1, out=out)
    return out


def conversions(t, a):
    return a.to(t.float64).to("cpu", t.int64)


def factories(t, a):
    return t.clamp(a, min=0.0) + t.arange(4) + t.full((4,), 2.0)


def lists(t, a):
    return t._foreach_add([a, a], 1)


def no_grad(t, a):
    with t.no_grad():
        b = a.sin()
    return b + a


def casts(t, a):
    with t.autocast("cpu"):
        b = a @ a.t()
    return b + 1


def attention(t, a):
    q = a.view(1, 1, 3, 4)
    return t.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)


def composed(t, a):
    return t.einsum("ij,kj->ik", a, a).softmax(-1), a.reshape(-1), a.flatten(), a.std(), a.numel()


def value(t, a):
    return a * a.sum().item()


def branch(t, a):
    return a if a.sum() > 0 else -a


PROGRAMS = [
    gradient, written, literal, number, unused, halves, sorted_, random, shapes, into, conversions, factories, lists,
    no_grad, casts, attention, composed, value, branch,
]  # fmt: skip
KNOWN = {
    ("fake", value): "torch makes symbols of values there, which are not offered",
    ("fake", branch): "torch makes symbols of values there, which are not offered",
    ("pre_dispatch", gradient): "that backward records nothing is a step of the graph here, in torch it is not",
    ("pre_dispatch", literal): "torch detaches a literal in a step of its own",
    ("pre_dispatch", number): "torch detaches a literal in a step of its own",
    ("pre_dispatch", value): "the error names what item() is made of",
    ("pre_dispatch", branch): "the error names what item() is made of",
}
OPTIONS = {"real": {}, "fake": {"tracing_mode": "fake"}, "pre_dispatch": {"pre_dispatch": True}}


def recorded(t, tensors, program, options):
    def f(a):
        return program(t, a)

    try:
        made = tensors.make_fx(f, **options)(t.ones(3, 4))
    except RuntimeError as error:
        return type(error).__name__, str(error)
    nodes = [
        (node.op, node.name, sorted(node.meta), getattr(node.meta.get("val"), "shape", None))
        for node in made.graph.nodes
    ]
    return made.code, nodes, type(made).__name__, sorted(name for name, _ in made.named_buffers())


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_graphs_are_torchs(program, options):
    if (options, program) in KNOWN:
        pytest.skip(KNOWN[options, program])
    wanted = recorded(torch, theirs, program, OPTIONS[options])
    assert recorded(mt, ours, program, OPTIONS[options]) == wanted


def layers(t):
    t.manual_seed(0)
    return t.nn.Sequential(
        t.nn.Conv2d(3, 4, 3), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(), t.nn.Linear(36, 8), t.nn.LayerNorm(8),
        t.nn.BatchNorm1d(8), t.nn.GELU(), t.nn.Dropout(0.0),
    ).eval()  # fmt: skip


@pytest.mark.parametrize("whole", [True, False], ids=["pre_dispatch", "operators"])
def test_modules_are_recorded_with_their_parameters(whole):
    made, wanted = [
        tensors.make_fx(layers(t), pre_dispatch=whole)(t.ones(2, 3, 8, 8))
        for t, tensors in ((mt, ours), (torch, theirs))
    ]
    assert made.code == "".join(line for line in wanted.code.splitlines(True) if "aten.empty.memory_format" not in line)
    assert sorted(name for name, _ in made.named_parameters()) == sorted(name for name, _ in wanted.named_parameters())
    x = mt.randn(2, 3, 8, 8)
    mt.testing.assert_close(made(x), layers(mt)(x))


def test_a_graph_computes_what_the_program_does():
    x = mt.randn(3, 4)
    leaves = mt.utils._pytree.tree_leaves
    for program in (gradient, written, literal, halves, shapes, conversions, factories, composed, casts, no_grad):
        for options in OPTIONS.values():
            made = ours.make_fx(partial(program, mt), **options)(mt.ones(3, 4))
            mt.testing.assert_close(leaves(made(x)), leaves(program(mt, x)))


def test_decompositions_are_recorded_instead():
    def of(t, tensors):
        aten = t.ops.aten
        table = {aten.addmm.default: lambda bias, a, b: bias + a @ b}
        return tensors.make_fx(t.nn.Linear(4, 2), decomposition_table=table)(t.ones(3, 4)).code

    assert of(mt, ours) == of(torch, theirs)


def test_parameters_are_refused_by_fakes():
    def of(t, tensors):
        with pytest.raises(AssertionError, match="allow_non_fake_inputs"):
            tensors.make_fx(t.nn.Linear(4, 2), tracing_mode="fake")(t.ones(3, 4))
        return tensors.make_fx(t.nn.Linear(4, 2), tracing_mode="fake", _allow_non_fake_inputs=True)(t.ones(3, 4)).code

    assert of(mt, ours) == of(torch, theirs)


def test_symbols_are_refused():
    with pytest.raises(NotImplementedError, match="tracing_mode='symbolic' is not offered"):
        ours.make_fx(lambda a: a, tracing_mode="symbolic")
    with pytest.raises(AssertionError, match="must be one of"):
        ours.make_fx(lambda a: a, tracing_mode="unreal")


def test_a_graph_within_a_graph():
    def of(t, tensors):
        def f(a):
            tensors.get_isolated_graphmodule(lambda b: b.sin() + 1, (a,), {})
            return a.cos()

        return tensors.make_fx(f)(t.ones(3)).code

    assert of(mt, ours) == of(torch, theirs)
    assert ours.get_proxy_mode() is None
