"""Functions that change modules in place, optimizers that step in backward, and tensors in parts, beside torch."""

import importlib
import warnings

import pytest

import mindtorch
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")
SIDES = ("mindtorch", "torch")


def of(side, name):
    return importlib.import_module(f"{side}.{name}" if name else side)


def net(side):
    nn = of(side, "nn")
    made = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2))
    values = of(side, "").linspace(-1, 1, 26)
    with of(side, "").no_grad():
        start = 0
        for parameter in made.parameters():
            parameter.copy_(values[start : start + parameter.numel()].reshape(parameter.shape))
            start += parameter.numel()
    return made


def gradients(model):
    return [parameter.grad.tolist() for parameter in model.parameters()]


@pytest.mark.parametrize("side", SIDES)
def test_a_checkpointed_module_computes_again_and_has_the_same_gradients(side):
    lib, calls = of(side, ""), []
    plain, again = net(side), net(side)
    again[0].register_forward_hook(lambda *given: calls.append(1))
    assert of(side, "distributed._composable").checkpoint(again) is again
    inputs = lib.linspace(-1, 1, 6).reshape(2, 3)
    for model in (plain, again):
        model(inputs).pow(2).sum().backward()
    assert gradients(plain) == gradients(again)
    assert len(calls) == 2


def broken(change):
    def run(side):
        composable = of(side, "distributed._composable")
        nn = of(side, "nn")
        changes = {
            "wraps": lambda module: nn.Sequential(module),
            "adds": lambda module: module.append(nn.Linear(1, 1)),
            "extends": lambda module: module.append(nn.Identity()),
        }
        composable.contract()(changes[change])(nn.Sequential(nn.Linear(1, 1, bias=False)))

    return run


@pytest.mark.parametrize("change", ["wraps", "extends"])
def test_what_breaks_the_contract_is_refused_as_torch_does(change):
    assert_torch_error(lambda: broken(change)("mindtorch"), lambda: broken(change)("torch"))


@pytest.mark.parametrize("kwargs", [{"use_reentrant": True}, {"foo": 1, "bar": 2}])
def test_wrong_options_of_checkpoint_are_refused_as_torch_does(kwargs):
    assert_torch_error(
        lambda: of("mindtorch", "distributed._composable").checkpoint(net("mindtorch"), **kwargs),
        lambda: of("torch", "distributed._composable").checkpoint(net("torch"), **kwargs),
    )


def trained(side):
    lib, optim = of(side, ""), of(side, "distributed.optim")
    model = net(side)
    optim._apply_optimizer_in_backward(lib.optim.SGD, model.parameters(), {"lr": 0.1})
    optim._apply_optimizer_in_backward(lib.optim.SGD, [model[0].weight], {"lr": 0.01})
    for _ in range(2):
        model(lib.linspace(-1, 1, 6).reshape(2, 3)).pow(2).sum().backward()
    assert all(parameter.grad is None for parameter in model.parameters())
    assert len(optim._get_in_backward_optimizers(model)) == 5
    return [parameter.tolist() for parameter in model.parameters()]


def test_optimizers_step_in_backward_as_torchs_do():
    ours, theirs = (trained(side) for side in SIDES)
    flat = (
        [mindtorch.tensor(one).flatten().tolist() for one in ours],
        [torch.tensor(one).flatten().tolist() for one in theirs],
    )
    for one, other in zip(*flat, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


def named(side):
    lib, optim = of(side, ""), of(side, "distributed.optim")
    model = net(side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = optim._NamedOptimizer(model.named_parameters(), lib.optim.SGD, [{"params": model[0].parameters()}], lr=0.1,
                                     momentum=0.9)  # fmt: skip
    return lib, model, made


def test_a_state_dict_names_parameters_as_torch_does():
    shown = []
    for side in SIDES:
        _, _, made = named(side)
        made.init_state()
        held = made.state_dict()
        shown.append((sorted(held["state"]), held["param_groups"][0]["params"], held["param_groups"][0]["lr"]))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("wrong", ["empty", "length", "foreign"])
def test_wrong_states_are_refused_as_torch_does(wrong):
    def run(side):
        lib, _, made = named(side)
        given = made.state_dict()
        if wrong == "length":
            made.init_state()
            given = made.state_dict()
            given["state"]["0.weight"] = {}
        if wrong == "foreign":
            made.add_param_group({"params": [lib.ones(1)]})
        made.load_state_dict(given)

    assert_torch_error(lambda: run("mindtorch"), lambda: run("torch"))


METADATA = "distributed._shard.sharded_tensor"
WRONG = {
    "ranks": lambda parts: parts.ShardMetadata([0], [4, 1]),
    "negative": lambda parts: parts.ShardMetadata([-1], [4]),
    "placement": lambda parts: parts.ShardMetadata([0], [4], "a/b/c"),
    "overlap": lambda parts: of(
        parts.__name__.split(".")[0], "distributed._shard.sharding_spec"
    ).EnumerableShardingSpec([parts.ShardMetadata([0], [4]), parts.ShardMetadata([3], [4])]),
    "uncovered": lambda parts: (
        of(parts.__name__.split(".")[0], "distributed._shard.sharding_spec")
        .EnumerableShardingSpec([parts.ShardMetadata([0], [4])])
        .build_metadata((5,), None)
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_parts_are_refused_as_torch_does(wrong):
    assert_torch_error(lambda: WRONG[wrong](of("mindtorch", METADATA)), lambda: WRONG[wrong](of("torch", METADATA)))


def test_parts_of_a_dimension_are_those_of_torch():
    shown = []
    for side in SIDES:
        spec = of(side, "distributed._shard.sharding_spec").ChunkShardingSpec(
            0, [f"rank:{rank}/cpu" for rank in range(3)]
        )
        size = of(side, "").Size([7, 2])
        shown.append(str(spec.build_metadata(size, of(side, f"{METADATA}.metadata").TensorProperties())))
    assert shown[0] == shown[1]
