"""`quantize_dynamic` of linear layers beside torch: weights, results, texts and state dicts."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch  # noqa: E402
from mindtorch_dispatch.decomp.quantized import linear_dynamic  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def quantized(module, **options):
    """A model of two linear layers with given weights, quantized."""
    model = module.nn.Sequential(module.nn.Linear(17, 9), module.nn.ReLU(), module.nn.Linear(9, 4, bias=False))
    generator = np.random.default_rng(5)
    with module.no_grad():
        for parameter in model.parameters():
            parameter.copy_(module.tensor(generator.normal(size=tuple(parameter.shape)).astype(np.float32)))
    return module.ao.quantization.quantize_dynamic(model, **options)


@pytest.mark.parametrize("kinds", [None, "types", "names"])
def test_models_compute_as_torchs(kinds):
    generator = np.random.default_rng(6)
    made = []
    for module in (mindtorch, torch):
        options = {} if kinds is None else {"qconfig_spec": {module.nn.Linear} if kinds == "types" else {"0"}}
        made.append(quantized(module, **options, dtype=module.qint8))
    assert repr(made[0]) == repr(made[1])
    assert repr(made[0][0].weight()) == repr(made[1][0].weight())
    for shape in ((5, 17), (2, 3, 17), (1, 17)):
        values = (generator.normal(size=shape) * 3).astype(np.float32)
        last = 1 if kinds == "names" else 3  # a layer of floats behind adds up in an order of its own
        ours, theirs = made[0][:last](mindtorch.tensor(values)), made[1][:last](torch.tensor(values))
        assert np.array_equal(ours.detach().numpy(), theirs.detach().numpy())


@pytest.mark.parametrize("features", [512, 513, 1500])
def test_wide_layers_add_up_exactly(features):
    generator = np.random.default_rng(8)
    weight, values = (generator.normal(size=(rows, features)).astype(np.float32) for rows in (5, 7))
    found = []
    for module in (mindtorch, torch):
        model = module.nn.Sequential(module.nn.Linear(features, 5))
        with module.no_grad():
            model[0].weight.copy_(module.tensor(weight))
            model[0].bias.zero_()
        made = module.ao.quantization.quantize_dynamic(model, dtype=module.qint8)
        found.append(made(module.tensor(values)).detach().numpy())
    assert np.array_equal(*found)


def test_what_the_product_is_composed_of_has_its_bits():
    layer = quantized(mindtorch)[0]
    values = mindtorch.tensor(np.random.default_rng(9).normal(size=(6, 17)).astype(np.float32))
    found = layer(values)
    panels, sums = layer._packed_params._packed_params.panels
    weight = layer.weight()
    composed = linear_dynamic(values, panels, sums, layer.bias().detach(), 9, weight.q_scale(), weight.q_zero_point())
    assert np.array_equal(composed.numpy(), found.detach().numpy())


@pytest.mark.parametrize("shape", [(17,), (3, 16), ()])
def test_refused_inputs(shape):
    found = []
    for module in (mindtorch, torch):
        with pytest.raises(RuntimeError) as refused:
            quantized(module)[0](module.zeros(shape))
        found.append(str(refused.value))
    assert found[0] == found[1]
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        quantized(mindtorch)[0](mindtorch.zeros(3, 17, dtype=mindtorch.float64))


def test_state_dicts_have_the_names_of_torch():
    ours, theirs = quantized(mindtorch), quantized(torch)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    other = quantized(mindtorch)
    other[0].set_weight_bias(mindtorch.quantize_per_tensor(mindtorch.zeros(9, 17), 1.0, 0, mindtorch.qint8), None)
    other.load_state_dict(ours.state_dict())
    assert repr(other[0].weight()) == repr(ours[0].weight())


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "LSTMCell", "GRUCell", "RNNCell"])
def test_recurrent_layers_compute_as_torchs(kind):
    generator = np.random.default_rng(7)
    found = []
    options = {"num_layers": 2, "bidirectional": True, "batch_first": True} if kind in ("LSTM", "GRU") else {}
    values = generator.normal(size=(3, 5, 6) if options else (3, 6)).astype(np.float32)
    for module in (mindtorch, torch):
        layer = getattr(module.nn, kind)(6, 4, **options)
        same = np.random.default_rng(8)
        with module.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(module.tensor(same.normal(size=tuple(parameter.shape)).astype(np.float32)))
        made = module.ao.quantization.quantize_dynamic(module.nn.Sequential(layer), {getattr(module.nn, kind)})
        result = made(module.tensor(values))
        result = result[0] if isinstance(result, tuple) else result
        found.append((repr(made), result.detach().numpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6, atol=1e-7)


def test_packed_sequences_are_not_offered():
    model = mindtorch.ao.quantization.quantize_dynamic(mindtorch.nn.Sequential(mindtorch.nn.LSTM(2, 3)))
    packed = mindtorch.nn.utils.rnn.pack_sequence([mindtorch.ones(3, 2), mindtorch.ones(2, 2)])
    with pytest.raises(NotImplementedError, match="packed sequences"):
        model(packed)
