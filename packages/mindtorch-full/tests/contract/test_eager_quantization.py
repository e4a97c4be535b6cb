"""`torch.ao.quantization` in eager mode beside torch: observers, rounding, fusing, converted models and their integers."""

import copy
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SIDES = (mindtorch, torch)
ENGINES = ["x86", "fbgemm", "onednn"]


@pytest.fixture
def engine(request):
    """Both sides with one engine."""
    for side in SIDES:
        side.backends.quantized.engine = request.param
    yield request.param
    for side in SIDES:
        side.backends.quantized.engine = "x86"


def both(function):
    """What a function finds on both sides, or how it fails."""
    found = []
    for side in SIDES:
        try:
            found.append(function(side))
        except (RuntimeError, ValueError, TypeError, AssertionError, AttributeError, NotImplementedError) as error:
            found.append((type(error).__name__, str(error)))
    return found


def numbers(*shape, seed=0, scale=1.0):
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


def quantized(side, values, scale, zero_point, dtype="quint8"):
    return side.quantize_per_tensor(side.tensor(values), scale, zero_point, getattr(side, dtype))


def by_channel(side, values, dtype="qint8"):
    scales = np.abs(values).reshape(len(values), -1).max(1) / 120
    zeros = side.zeros(len(values), dtype=side.int64)
    return side.quantize_per_channel(side.tensor(values), side.tensor(scales.astype(np.float32)), zeros, 0, side.qint8)


def seen(tensor):
    """All of a quantized tensor that a program can tell."""
    return tensor.int_repr().numpy(), tensor.q_scale(), tensor.q_zero_point(), tensor.stride(), str(tensor.dtype)


def assert_same(ours, theirs):
    assert np.array_equal(ours[0], theirs[0])
    assert ours[1:] == theirs[1:]


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("depth", [30, 700])
@pytest.mark.parametrize("way", ["linear", "linear_relu"])
@pytest.mark.parametrize("kind", ["tensor", "channel"])
def test_linear_layers_have_torchs_integers(engine, depth, way, kind):
    def run(side):
        weight = numbers(60, depth, seed=1, scale=0.1)
        packed = by_channel(side, weight) if kind == "channel" else quantized(side, weight, 0.0027, 0, "qint8")
        kept = side.ops.quantized.linear_prepack(packed, side.tensor(numbers(60, seed=2)))
        values = quantized(side, numbers(90, depth, seed=3), 0.03, 117)
        return seen(getattr(side.ops.quantized, way)(values, kept, 0.05, 60))

    assert_same(*both(run))


CONVOLUTIONS = {
    "plain": ("conv2d", (3, 12, 17, 15), (24, 12, 3, 3), 1),
    "depthwise": ("conv2d", (3, 12, 17, 15), (24, 1, 3, 3), 12),
    "groups": ("conv2d_relu", (3, 12, 9, 9), (24, 6, 3, 3), 2),
    "line": ("conv1d", (3, 12, 30), (24, 12, 3), 1),
    "volume": ("conv3d", (2, 4, 8, 8, 8), (6, 4, 3, 3, 3), 1),
}


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions_have_torchs_integers(engine, case):
    name, shape, of_weight, groups = CONVOLUTIONS[case]
    rank = len(shape) - 2

    def run(side):
        prepack = getattr(side.ops.quantized, f"conv{rank}d_prepack")
        steps = [2] * rank, [1] * rank, [1] * rank, groups
        kept = prepack(
            by_channel(side, numbers(*of_weight, seed=1)), side.tensor(numbers(24, seed=2)[: of_weight[0]]), *steps
        )
        return seen(getattr(side.ops.quantized, name)(quantized(side, numbers(*shape), 0.03, 117), kept, 0.2, 101))

    assert_same(*both(run))


@pytest.mark.parametrize("shape", [(37,), (64,), (200,), (33000,), (2, 24, 5, 9)])
@pytest.mark.parametrize("name", ["add", "add_relu", "mul", "mul_relu"])
@pytest.mark.parametrize("to", [(0.2, 7), (0.05, 101)])
def test_sums_and_products_are_rounded_as_torchs(shape, name, to):
    def run(side):
        pair = [quantized(side, numbers(*shape, seed=one, scale=3.0), 0.1, 3 + one) for one in (0, 2)]
        if len(shape) == 4:
            pair = [one.contiguous(memory_format=side.channels_last) for one in pair]
        return seen(getattr(side.ops.quantized, name)(*pair, *to))

    torch.set_num_threads(mindtorch.get_num_threads())
    assert_same(*both(run))


@pytest.mark.parametrize("number", [0.5, -1.25, 3.0, 100.0, -300.0, 0.0])
@pytest.mark.parametrize("name", ["add_scalar", "mul_scalar", "add_scalar_relu", "mul_scalar_relu"])
def test_sums_and_products_with_numbers(name, number):
    assert_same(
        *both(lambda side: seen(getattr(side.ops.quantized, name)(quantized(side, numbers(77), 0.1, 30), number)))
    )


CALLS = [
    "q.hardswish(x, 0.023, 41)",
    "q.elu(x, 0.023, 41, 1.0)",
    "q.celu(x, 0.023, 41, 1.0)",
    "q.leaky_relu(x, 0.01, False, 0.023, 41)",
    "q.sigmoid(x, 0.004, 0)",
    "q.softmax(x, 1, 0.004, 0)",
    "q.relu6(x)",
    "q.group_norm(x, 4, w, b, 1e-5, 0.023, 41)",
    "q.instance_norm(x, w, b, 1e-5, 0.023, 41)",
    "q.batch_norm2d(x, w, b, b, w * w + 0.1, 1e-5, 0.023, 41)",
    "q.batch_norm2d_relu(x, w, b, b, w * w + 0.1, 1e-5, 0.023, 41)",
    "q.cat([x, x], 1, 0.07, 9)",
    "q.cat_relu([x, x], 1, None, None)",
    "q.matmul(x, x, 0.7, 100)",
]


@pytest.mark.parametrize("call", CALLS)
def test_activations_and_normalization(call):
    def run(side):
        names = {
            "q": side.ops.quantized,
            "x": quantized(side, numbers(4, 16, 8, 8, scale=3.0), 0.05, 103),
            "w": side.tensor(numbers(16, seed=1)),
            "b": side.tensor(numbers(16, seed=2)),
        }
        return seen(eval(call, names))

    assert_same(*both(run))


OBSERVERS = [
    "MinMaxObserver()",
    "MinMaxObserver(dtype=T.qint8, qscheme=T.per_tensor_symmetric)",
    "MinMaxObserver(quant_min=0, quant_max=15)",
    "MovingAverageMinMaxObserver(averaging_constant=0.3)",
    "PerChannelMinMaxObserver(ch_axis=1)",
    "PerChannelMinMaxObserver(qscheme=T.per_channel_affine_float_qparams)",
    "MovingAveragePerChannelMinMaxObserver(dtype=T.qint8, qscheme=T.per_channel_symmetric)",
    "HistogramObserver()",
    "HistogramObserver(bins=64, reduce_range=True)",
    "FixedQParamsObserver(0.5, 3)",
    "default_observer()",
    "default_per_channel_weight_observer()",
    "MinMaxObserver(qscheme=T.per_channel_affine)",
    "MinMaxObserver(dtype=T.float32)",
    "MinMaxObserver(quant_min=3, quant_max=9)",
    "HistogramObserver(is_dynamic=True)",
    "QConfig(MinMaxObserver(), MinMaxObserver)",
    "get_default_qconfig('abacus')",
    "get_default_qat_qconfig('x86', 7)",
    "FakeQuantize(quant_min=-1, quant_max=9)",
    "FusedMovingAvgObsFakeQuantize(MinMaxObserver)",
]


@pytest.mark.parametrize("expression", OBSERVERS)
def test_observers_see_and_say_what_torchs_do(expression):
    def run(side):
        made = eval(expression, {**vars(side.ao.quantization), "T": side})
        for one in range(4):
            made(side.tensor(numbers(6, 5, seed=one, scale=1.0 + one)))
        return repr(made), [one.tolist() for one in made.calculate_qparams()], list(made.state_dict())

    ours, theirs = both(run)
    assert ours == theirs


@pytest.mark.parametrize("name", ["PlaceholderObserver", "RecordingObserver", "NoopObserver", "ReuseInputObserver"])
def test_observers_without_a_range_say_so(name):
    for side in SIDES:
        with pytest.raises(Exception, match=f"calculate_qparams should not be called for {name}$") as refused:
            getattr(side.ao.quantization.observer, name)().calculate_qparams()
        assert refused.type is Exception


ROUNDING = [
    "FakeQuantize()",
    "default_fake_quant()",
    "default_per_channel_weight_fake_quant()",
    "default_fused_act_fake_quant()",
    "default_fused_wt_fake_quant()",
    "default_fused_per_channel_wt_fake_quant()",
    "default_fixed_qparams_range_0to1_fake_quant()",
]


@pytest.mark.parametrize("expression", ROUNDING)
def test_rounding_while_training(expression):
    def run(side):
        made = eval(expression, vars(side.ao.quantization))
        found = []
        for one in range(4):
            x = side.tensor(numbers(6, 5, seed=one, scale=1.0 + one), requires_grad=True)
            result = made(x)
            result.sum().backward()
            found += [result.tolist(), x.grad.tolist(), made.scale.tolist(), made.zero_point.tolist()]
        made.disable_observer()
        found.append(made(side.tensor(numbers(6, 5, seed=9, scale=9.0))).tolist())
        return found, repr(made), list(made.state_dict())

    ours, theirs = both(run)
    assert ours == theirs


def model(side):
    """A small network with a branch, whose parameters are the same on both sides."""

    class Net(side.nn.Module):
        def __init__(self):
            super().__init__()
            self.quant = side.ao.quantization.QuantStub()
            self.conv, self.bn, self.relu = side.nn.Conv2d(3, 8, 3, padding=1), side.nn.BatchNorm2d(8), side.nn.ReLU()
            self.branch = side.nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.sum = side.ao.nn.quantized.FloatFunctional()
            self.pool = side.nn.AdaptiveAvgPool2d(2)
            self.fc, self.fc_relu, self.last = side.nn.Linear(32, 10), side.nn.ReLU(), side.nn.Linear(10, 4)
            self.dequant = side.ao.quantization.DeQuantStub()

        def forward(self, x):
            x = self.relu(self.bn(self.conv(self.quant(x))))
            x = self.pool(self.sum.add(x, self.branch(x))).flatten(1)
            return self.dequant(self.last(self.fc_relu(self.fc(x))))

    made = Net()
    generator = np.random.default_rng(3)
    with side.no_grad():
        for parameter in made.parameters():
            parameter.copy_(side.tensor((generator.normal(size=tuple(parameter.shape)) * 0.3).astype(np.float32)))
    return made


FUSED = [["conv", "bn", "relu"], ["fc", "fc_relu"]]


@pytest.mark.parametrize("backend", [*ENGINES, "qnnpack"])
def test_models_are_prepared_and_converted_as_torchs(backend):
    def run(side):
        tool = side.ao.quantization
        fused = tool.fuse_modules(model(side).eval(), FUSED)
        fused.qconfig = tool.get_default_qconfig(backend)
        prepared = tool.prepare(fused)
        for seed in range(3):
            prepared(side.tensor(numbers(4, 3, 8, 8, seed=seed)))
        converted = tool.convert(prepared)
        again = tool.convert(tool.prepare(copy.deepcopy(fused)))
        again.load_state_dict(converted.state_dict())
        x = side.tensor(numbers(4, 3, 8, 8, seed=7))
        assert side.equal(again(x), converted(x))
        types = [type(one).__module__ + "." + type(one).__name__ for one in converted.modules()]
        return types, list(converted.state_dict()), converted(x).detach().numpy(), converted.last.scale

    ours, theirs = both(run)
    assert ours[:2] == theirs[:2]
    # A scale that follows from a sum of floats may differ in its last bit, and a result then by its step.
    assert abs(ours[2] - theirs[2]).max() <= 2.1 * theirs[3]
    assert abs(ours[3] / theirs[3] - 1) < 1e-6


@pytest.mark.parametrize(("backend", "version"), [("x86", 1), ("fbgemm", 0), ("qnnpack", 1)])
def test_models_are_trained_with_rounding_as_torchs(backend, version):
    def run(side):
        tool = side.ao.quantization
        fused = tool.fuse_modules_qat(model(side).train(), FUSED)
        fused.qconfig = tool.get_default_qat_qconfig(backend, version)
        prepared = tool.prepare_qat(fused)
        optimizer, losses = side.optim.SGD(prepared.parameters(), 0.05), []
        for seed in range(3):
            found = prepared(side.tensor(numbers(8, 3, 8, 8, seed=seed)))
            loss = side.nn.functional.cross_entropy(found, side.arange(8) % 4)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        text = repr(prepared).partition("scale=")[0]
        prepared.apply(side.ao.nn.intrinsic.qat.freeze_bn_stats)
        converted = tool.convert(prepared.eval())
        return losses, text, [type(one).__name__ for one in converted.modules()]

    ours, theirs = both(run)
    assert ours[1:] == theirs[1:]
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)


FAILURES = [
    "q.fuse_modules(T.nn.Sequential(T.nn.Linear(2, 2), T.nn.Sigmoid()).eval(), ['0', '1'])",
    "q.fuse_modules(T.nn.Sequential(T.nn.Conv2d(2, 2, 1), T.nn.BatchNorm2d(2).eval()), ['0', '1'])",
    "q.prepare_qat(T.nn.Sequential(T.nn.Linear(2, 2)).eval())",
    "T.ao.nn.quantized.FloatFunctional()(1)",
    "T.ao.nn.quantized.QFunctional()(1)",
    "T.ao.nn.quantized.Conv2d(3, 4, 1, padding_mode='circular')",
    "T.ao.nn.quantized.Linear.from_float(T.nn.ReLU())",
    "T.ao.nn.intrinsic.ConvReLU2d(T.nn.Conv1d(1, 1, 1), T.nn.ReLU())",
    "T.ao.nn.qat.Linear(2, 2)",
    "T.nn.functional.linear(T.ones(2, 2), q.QuantStub()(T.ones(3, 2))).tolist()",
    "setattr(T.backends.quantized, 'engine', 'abacus')",
    "T.nn.intrinsic.ConvReLU2d is T.ao.nn.intrinsic.ConvReLU2d, T.quantization.observer.MinMaxObserver is q.MinMaxObserver",
    "repr(T.ao.nn.quantized.Linear(3, 2)), repr(T.ao.nn.quantized.Conv2d(3, 4, 3, padding=1, groups=1, bias=False))",
    "repr(q.default_qconfig.activation().dtype), q.QConfig._fields",
]


@pytest.mark.parametrize("expression", FAILURES)
def test_names_and_failures(expression):
    ours, theirs = both(lambda side: eval(expression, {"T": side, "q": side.ao.quantization}))
    assert ours == theirs


def test_what_goes_is_said():
    found = []
    for side in SIDES:
        layer = side.nn.Sequential(side.nn.Linear(2, 2)).eval()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            side.ao.quantization.prepare(layer)
            side.ao.quantization.HistogramObserver(reduce_range=True)
        found.append([(one.category, str(one.message)) for one in said])
    assert found[0] == found[1]
