"""`run_decompositions`: graphs without writes in the operators of the core set, as torch's, and what they compute."""

import warnings

import pytest

import mindtorch as mt
import mindtorch.export as ours

from .export_precisions import precisions  # noqa: F401  # a fixture
from .test_export import containers, images, language, net, tied, written

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.export", reason="oracle")
pytestmark = pytest.mark.usefixtures("precisions")


def assigned(t):
    class Assigned(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("step", t.tensor(0))
            self.register_buffer("last", t.zeros(2), persistent=False)

        def forward(self, x):
            self.step = self.step + 1
            self.last = x * 2
            return x + self.step

    return Assigned(), (t.ones(2),), {}


def dropped(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 3), t.nn.Dropout(0.5)), (t.ones(2, 3),), {}


def trained(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Conv2d(3, 4, 3), t.nn.BatchNorm2d(4)), (t.ones(2, 3, 5, 5),), {}


PROGRAMS = [net, tied, written, containers, images, assigned, dropped, trained]


def lowered(t, library, program, *table):
    module, args, kwargs = program(t)
    return library.export(module, args, kwargs).run_decompositions(*table)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_lowered_graphs_are_torchs(program):
    made, wanted = lowered(mt, ours, program), lowered(torch, theirs, program)
    assert made.graph_module.code == wanted.graph_module.code
    assert str(made.graph_signature) == str(wanted.graph_signature)
    assert made.module().code == wanted.module().code
    assert list(made.state_dict) == list(wanted.state_dict)
    assert set(made.constants) == set(wanted.constants)
    assert made.dialect == wanted.dialect == "ATEN"
    plain = [line for line in str(wanted).splitlines() if "# File" not in line and line.strip()]
    assert [line for line in str(made).splitlines() if "# File" not in line and line.strip()] == plain


@pytest.mark.parametrize("program", [*PROGRAMS, language], ids=lambda one: one.__name__)
def test_lowered_programs_compute_and_write_what_their_modules_do(program):
    module, args, kwargs = program(mt)
    expected_module, expected_args, _ = program(mt)
    mt.manual_seed(1)
    expected = expected_module(*expected_args, **kwargs)
    made = ours.export(module, args, kwargs).run_decompositions().module()
    mt.manual_seed(1)
    mt.testing.assert_close(made(*args, **kwargs), expected)
    mt.testing.assert_close(args, expected_args)
    mt.testing.assert_close(dict(made.named_buffers()), dict(expected_module.named_buffers()))


def views(t, x):
    return x.t(), x.transpose(0, 1), x.unsqueeze(0).squeeze(), x.split(2, 1)[0], x.unbind(0)[1], t.stack([x, x]), x.mT


def made_of_nothing(t, x):
    return t.zeros(2), t.ones(2), t.zeros_like(x), t.ones_like(x), x.new_zeros(3), x.new_full((2,), 2.0), t.arange(4)


def losses(t, x):
    f = t.nn.functional
    return f.mse_loss(x, x + 1), f.smooth_l1_loss(x, x + 1), f.huber_loss(x, x + 1, delta=0.3)


def activations(t, x):
    f = t.nn.functional
    return f.silu(x), f.hardswish(x), f.hardsigmoid(x), f.softplus(x), f.mish(x), f.glu(x), f.logsigmoid(x)


def reductions(t, x):
    return x.sum(), x.mean(), x.std(1), (x > 0).all(), (x > 0).all(1), x.norm(), x.var(1, unbiased=False)


def products(t, x):
    return x @ x[0], x[0] @ x[1], t.outer(x[0], x[1]), x[None].expand(3, 2, 4) @ x.t(), t.addcmul(x, x, x, value=0.5)


def pictures(t, x):
    i = x.reshape(1, 8, 1, 1).expand(1, 8, 2, 2)
    f = t.nn.functional
    return f.pixel_shuffle(i, 2), f.pixel_unshuffle(i, 2), t.channel_shuffle(i, 2)


FAMILIES = [views, made_of_nothing, losses, activations, reductions, products, pictures]


def family(t, function):
    class Family(t.nn.Module):
        def forward(self, x):
            return function(t, x)

    return Family(), (t.linspace(-2, 2, 8).reshape(2, 4),), {}


@pytest.mark.parametrize("function", FAMILIES, ids=lambda one: one.__name__)
def test_operators_are_taken_apart_as_by_torch(function):
    made, wanted = (lowered(t, library, lambda t: family(t, function)) for t, library in ((mt, ours), (torch, theirs)))
    assert made.graph_module.code == wanted.graph_module.code
    module, args, _ = family(mt, function)
    mt.testing.assert_close(made.module()(*args), module(*args))


def rest(t, x):
    f = t.nn.functional
    wide = x.clamp(min=-1)
    found = [f.threshold(x, 0.1, 0.0), f.hardshrink(x), f.softshrink(x), f.prelu(x, t.tensor([0.2])), x.isfinite()]
    found += [t.addcdiv(x, x, x + 5), t.rsub(x, 1), x.clamp_min(0), x.clamp_max(x[0]), x.logsumexp(1), x.frac()]
    found += [x.tril(), x.triu(1), x.nan_to_num(), x // 2, t.where(x > 0, x, 0.0), t.where(x > 0, 1.0, x), t.eye(3, 4)]
    found += [x.masked_fill(x > 0, 1.0), x.masked_fill(x > 0, x.sum()), t.xlogy(x.abs(), x.abs()), t.arange(1, 5)]
    found += [f.binary_cross_entropy_with_logits(x, x.sigmoid(), pos_weight=x[0].abs()), x.sum(dtype=t.float64)]
    found += [f.cross_entropy(x, t.tensor([1, -100])), f.cross_entropy(x, t.tensor([1, 2]), weight=x[0].abs())]
    found += [
        f.nll_loss(x, t.tensor([1, 2]), reduction="none"),
        t.baddbmm(x[None].mT, x[None].mT, x[None, :, :2], beta=2),
    ]
    return [*found, x.rot90(), t.full_like(x, 2).fill_(x[0, 0]), t.empty_like(x).fill_(3), x.detach() + wide]


def test_operators_that_are_taken_apart_compute_the_same():
    made = lowered(mt, ours, lambda t: family(t, rest))
    module, args, _ = family(mt, rest)
    mt.testing.assert_close(made.module()(*args), module(*args))


def test_writes_to_views_reach_buffers_and_arguments_of_any_size():
    class Views(mt.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", mt.zeros(2, 2))

        def forward(self, x, y):
            self.n[0].add_(1)
            x.t().mul_(2)
            x.view(-1)[1:3] = y.sum()
            return x.relu().view(-1, 3)[:, 0], self.n

    batch = mt.export.Dim("batch", min=2, max=50)
    sizes = ({0: batch}, {0: batch})
    program = ours.export(Views(), (mt.ones(4, 3), mt.ones(4)), dynamic_shapes=sizes).run_decompositions()
    assert not [node for node in program.graph.nodes if str(node.target).split(".")[1:2] in (["mul_"], ["add_"])]
    assert dict(program.graph_signature.user_inputs_to_mutate)
    assert dict(program.graph_signature.buffers_to_mutate)
    module, x, expected = program.module(), mt.ones(6, 3), mt.ones(6, 3)
    results, wanted = module(x, mt.arange(6.0)), Views()(expected, mt.arange(6.0))
    mt.testing.assert_close(results, wanted)
    mt.testing.assert_close(x, expected)
    mt.testing.assert_close(module.n, mt.tensor([[1.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(AssertionError, match="Guard failed"):
        module(mt.ones(51, 3), mt.ones(51))


def test_what_is_taken_out_of_the_table_stays_whole():
    for t, library in ((mt, ours), (torch, theirs)):
        table = library.default_decompositions()
        table.pop(t.ops.aten.linear.default)
        names = [str(node.target) for node in lowered(t, library, images, table).graph.nodes]
        assert {"aten.linear.default", "aten.convolution.default"} <= set(names)
    made, wanted = (
        lowered(t, library, images, {t.ops.aten.relu.default: lambda x, t=t: t.clamp(x, 0)})
        for t, library in ((mt, ours), (torch, theirs))
    )
    assert made.graph_module.code == wanted.graph_module.code


def test_recurrent_layers_are_steps():
    class Layers(mt.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = mt.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
            self.then = mt.nn.GRU(8, 2)
            self.norm = mt.nn.InstanceNorm1d(2, track_running_stats=True)

        def forward(self, x):
            return self.norm(self.then(self.first(x)[0])[0].mT)

    mt.manual_seed(0)
    module, x = Layers(), mt.randn(2, 5, 3)
    program = ours.export(module, (x,)).run_decompositions()
    assert not [node for node in program.graph.nodes if "rnn" in str(node.target) or "lstm" in str(node.target)]
    made = program.module()
    mt.testing.assert_close(made(x), module(x))
    mt.testing.assert_close(made.norm.running_mean, module.norm.running_mean)
    made(x).sum().backward()
    assert made.first.weight_ih_l0.grad is not None


def test_what_a_program_puts_in_place_of_a_buffer_is_kept_and_of_an_attribute_is_not():
    program = ours.export(*assigned(mt)[:2])
    assert program.graph_module.code == theirs.export(*assigned(torch)[:2]).graph_module.code
    module = program.module()
    assert [module(mt.ones(2)).tolist() for _ in range(2)] == [[2, 2], [3, 3]]
    assert module.step == 2

    def attribute(t, library):
        class Attribute(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.k = t.ones(2)

            def forward(self, x):
                self.k = self.k + x
                self.more = x
                return x + self.k

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            code = library.export(Attribute(), (t.ones(2),)).graph_module.code
        # torch's order of the attributes is that of a set
        return code, [
            sorted(str(one.message).replace(",", "").split()) for one in caught if "assigned" in str(one.message)
        ]

    assert attribute(mt, ours) == attribute(torch, theirs)


def test_a_module_of_two_names_keeps_its_parameters():
    def shared(t):
        class Shared(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = t.nn.Linear(2, 2)
                self.again = self.first

            def forward(self, x):
                return self.again(self.first(x))

        return Shared(), (t.ones(1, 2),), {}

    module, args, _ = shared(mt)
    before = module.first.weight
    code = ours.export(module, args).graph_module.code
    assert module.first.weight is before
    assert type(module.first.bias) is mt.nn.Parameter
    assert code == exported_code(torch, theirs, shared)
    assert lowered(mt, ours, shared).graph_module.code == lowered(torch, theirs, shared).graph_module.code


def exported_code(t, library, program):
    module, args, kwargs = program(t)
    return library.export(module, args, kwargs).graph_module.code
