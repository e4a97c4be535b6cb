"""Modules that both libraries script: what they compute, their code, and their archives read by the other."""

import copy
import io
import json
import math
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

from . import nested_modules  # noqa: E402
from .nested_modules import nested  # noqa: E402
from .programs import carried, close, outcome  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning")


def filled(lib, *shape):
    count = math.prod(shape)
    return (lib.arange(float(count)).reshape(*shape) / 7 - 0.5) / 3


PLAIN = (
    "ReLU ReLU6 ELU CELU SELU LeakyReLU Hardtanh Hardswish Hardsigmoid SiLU Mish GELU GLU Softplus Softsign Tanhshrink "
    "Softshrink Hardshrink LogSigmoid Sigmoid Tanh Identity Flatten PReLU"
).split()
OVER_DIMENSIONS = {
    "Conv": ((2, 4, 3), {"padding": 1}), "ConvTranspose": ((2, 4, 3), {"stride": 2}), "MaxPool": ((2,), {}),
    "AvgPool": ((2,), {}), "AdaptiveAvgPool": ((2,), {}), "AdaptiveMaxPool": ((2,), {}), "BatchNorm": ((2,), {}),
    "Dropout": ((0.5,), {}), "ConstantPad": ((1, 2.0), {}), "ReplicationPad": ((1,), {}), "ReflectionPad": ((1,), {}),
    "ZeroPad": ((1,), {}),
}  # fmt: skip
LOSSES = "MSELoss L1Loss SmoothL1Loss HuberLoss BCEWithLogitsLoss KLDivLoss SoftMarginLoss PoissonNLLLoss".split()
CASES = {
    **{name: (lambda lib, name=name: getattr(lib.nn, name)(), ((2, 4, 6),)) for name in PLAIN},
    **{f"{name}{dims}d": (lambda lib, name=name, dims=dims, given=given: getattr(lib.nn, f"{name}{dims}d")(
        *given[0], **given[1]).train(name != "Dropout"), ((2, 2, *(6,) * dims),))
       for name, given in OVER_DIMENSIONS.items() for dims in (1, 2, 3)},
    **{name: (lambda lib, name=name: getattr(lib.nn, name)(), ((3, 4), (3, 4))) for name in LOSSES},
    "Softmax": (lambda lib: lib.nn.Softmax(1), ((2, 4, 6),)),
    "LogSoftmax": (lambda lib: lib.nn.LogSoftmax(), ((2, 4),)),
    "Threshold": (lambda lib: lib.nn.Threshold(0.1, 2.0), ((3, 3),)),
    "Linear": (lambda lib: lib.nn.Linear(3, 4), ((2, 3),)),
    "Linear without bias": (lambda lib: lib.nn.Linear(3, 4, bias=False), ((2, 3),)),
    "Bilinear": (lambda lib: lib.nn.Bilinear(3, 4, 2), ((2, 3), (2, 4))),
    "Conv2d with a border": (lambda lib: lib.nn.Conv2d(2, 4, 3, padding=1, padding_mode="circular"), ((2, 2, 6, 6),)),
    "BatchNorm in evaluation": (lambda lib: lib.nn.BatchNorm2d(2).eval(), ((2, 2, 6, 6),)),
    "BatchNorm of a mean": (lambda lib: lib.nn.BatchNorm1d(2, momentum=None, affine=False), ((2, 2, 6),)),
    "BatchNorm without statistics": (lambda lib: lib.nn.BatchNorm1d(2, track_running_stats=False), ((2, 2, 6),)),
    "LayerNorm": (lambda lib: lib.nn.LayerNorm(4), ((2, 3, 4),)),
    "GroupNorm": (lambda lib: lib.nn.GroupNorm(2, 4), ((2, 4, 3),)),
    "PixelShuffle": (lambda lib: lib.nn.PixelShuffle(2), ((1, 4, 3, 3),)),
    "Unfold": (lambda lib: lib.nn.Unfold(2), ((1, 2, 4, 4),)),
    "Unflatten": (lambda lib: lib.nn.Unflatten(1, (2, 2)), ((3, 4),)),
    "CosineSimilarity": (lambda lib: lib.nn.CosineSimilarity(), ((2, 3), (2, 3))),
    "Sequential": (lambda lib: lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.ReLU(), lib.nn.Linear(4, 3)), ((2, 3),)),
}  # fmt: skip


def alike(name):
    """Return the modules of both libraries with the same weights, and what they are given."""
    make, shapes = CASES[name]
    modules = [make(lib) for lib in (torch, mindtorch)]
    kinds = {key: str(value.dtype).rpartition(".")[2] for key, value in modules[0].state_dict().items()}
    state = {key: mindtorch.tensor(value.tolist(), dtype=getattr(mindtorch, kinds[key]))
             for key, value in modules[0].state_dict().items()}  # fmt: skip
    modules[1].load_state_dict(state)
    given = [[filled(lib, *shape) for shape in shapes] for lib in (torch, mindtorch)]
    return (*modules, *given)


@pytest.mark.parametrize("name", CASES)
def test_scripted_layers_compute_what_torchs_do(name):
    theirs, ours, given, our_given = alike(name)
    theirs, ours = torch.jit.script(theirs), mindtorch.jit.script(ours)
    written = io.BytesIO()
    mindtorch.jit.save(ours, written)
    by_torch = carried(theirs, torch, mindtorch)
    written.seek(0)
    by_us = torch.jit.load(written)
    expected = outcome(lambda: theirs(*given))
    assert close(outcome(lambda: ours(*our_given)), expected)
    assert close(outcome(lambda: by_us(*given)), expected)
    assert close(outcome(lambda: by_torch(*our_given)), expected)
    assert list(by_us.state_dict()) == list(theirs.state_dict())


@pytest.mark.parametrize("name", ["ReLU", "Linear", "Conv2d", "BatchNorm in evaluation", "Sequential", "LayerNorm"])
def test_code_of_layers_is_torchs(name):
    theirs, ours, *_ = alike(name)
    assert mindtorch.jit.script(ours).code == torch.jit.script(theirs).code


def net(lib):
    class Block(lib.nn.Module):
        def __init__(self, scale: float):
            super().__init__()
            self.linear = lib.nn.Linear(3, 3)
            self.norm = lib.nn.LayerNorm(3)
            self.scale = scale

        def forward(self, x):
            return self.norm(self.linear(x)) * self.scale + self.shifted(x, 2)

        def shifted(self, x, by: int):
            if by > 1:
                return x + by
            return x

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = lib.nn.ModuleList([Block(1.0), Block(2.0)])
            self.named = lib.nn.ModuleDict({"one": lib.nn.ReLU(), "two": lib.nn.Tanh()})
            self.last = None
            self.count = 0
            self.register_buffer("seen", lib.zeros(1))

        def forward(self, x):
            for place, block in enumerate(self.blocks):
                x = block(x) + place
            for _, one in self.named.items():
                x = one(x)
            self.count += 1
            if self.last is not None:
                x = self.last(x)
            self.seen += x.sum()
            return self.blocks[0](x), self.count

        @lib.jit.export
        def doubled(self, x):
            return x * 2

    made = Net()
    with lib.no_grad():
        for one in made.parameters():
            one.copy_(filled(lib, *one.shape))
    return made


@pytest.mark.parametrize(("writer", "reader"), [(mindtorch, torch), (torch, mindtorch), (mindtorch, mindtorch)])
def test_modules_of_modules_attributes_and_exports_are_carried(writer, reader):
    expected = net(torch)(filled(torch, 2, 3))
    loaded = carried(writer.jit.script(net(writer)), writer, reader)
    given = filled(reader, 2, 3)
    result, count = loaded(given)
    assert result.flatten().tolist() == pytest.approx(expected[0].flatten().tolist(), abs=1e-4)
    assert (count, loaded(given)[1]) == (1, 2)
    assert loaded.doubled(given).tolist() == (given * 2).tolist()
    assert loaded.count == 2
    assert loaded.seen.item() != 0


def test_graphs_of_modules():
    shown = str(mindtorch.jit.script(net(mindtorch)).graph)
    for part in ("graph(%self : __torch__.", 'prim::GetAttr[name="blocks"](%self', 'prim::CallMethod[name="forward"](',
                 'prim::SetAttr[name="count"](%self'):  # fmt: skip
        assert part in shown
    assert "prim::CallMethod" not in str(mindtorch.jit.script(net(mindtorch)).inlined_graph)


@pytest.mark.parametrize("reader", [torch, mindtorch])
def test_frozen_scripts_are_carried(reader):
    theirs, ours, given, our_given = alike("BatchNorm in evaluation")
    frozen = mindtorch.jit.freeze(mindtorch.jit.script(ours))
    loaded = carried(frozen, mindtorch, reader)
    assert close(outcome(lambda: loaded(*(given if reader is torch else our_given))), outcome(lambda: theirs(*given)))
    assert not list(loaded.parameters())


def test_classes_of_one_name_are_counted_as_torch_counts_them():
    """In processes of their own: torch counts on over all that a process scripts."""
    found, expected = (
        json.loads(
            subprocess.run([sys.executable, nested_modules.__file__, lib], capture_output=True, check=True).stdout
        )
        for lib in ("mindtorch", "torch")
    )
    assert any("___torch_mangle_2" in name for name in expected)
    assert found == expected


def test_a_scripted_module_keeps_what_was_compiled_first():
    module = nested(mindtorch)
    graph, code = module.graph, module.code
    module.count = 5
    with mindtorch.no_grad():
        module.first.linear.weight.fill_(2)
    module.last.weight = mindtorch.nn.Parameter(mindtorch.ones(3, 2))
    assert module.graph is graph
    assert module.code == code
    loaded = torch.jit.load(io.BytesIO(module.save_to_buffer()))
    assert loaded.count == 5
    assert loaded.first.linear.weight.tolist() == [[2.0, 2.0]] * 2
    assert loaded.last.weight.tolist() == [[1.0, 1.0]] * 3
    copied = copy.deepcopy(module)
    copied.count = 7
    assert [torch.jit.load(io.BytesIO(one.save_to_buffer())).count for one in (copied, module)] == [7, 5]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 4),
        ("count", True),
        ("count", 1.5),
        ("count", "a"),
        ("rate", 2),
        ("rate", True),
        ("rate", "a"),
        ("nothing", 1),
    ],
)
def test_attributes_of_scripted_modules_keep_their_types(name, value):
    def given(lib):
        module = nested(lib)
        setattr(module, name, value)
        return getattr(module, name), type(getattr(module, name))

    assert outcome(lambda: given(mindtorch)) == outcome(lambda: given(torch))


LAYERS = sorted(
    name
    for name, kind in vars(torch.nn).items()
    if isinstance(kind, type) and issubclass(kind, torch.nn.Module) and kind is not torch.nn.Module
)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_say_types_of_attributes_where_torchs_do(name):
    """What a class says is what scripts declare; one that says nothing inherits what `Module` says of its hooks."""

    def says(lib):
        kind = getattr(lib.nn, name)
        return any(vars(one).get("__annotations__") for one in kind.__mro__ if one is not lib.nn.Module)

    assert says(mindtorch) == says(torch)
