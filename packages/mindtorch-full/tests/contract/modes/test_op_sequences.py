"""The operators a program is made of, in forward and backward, one by one as torch runs them."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import pytest

from .scenarios import assert_same, logging_mode, part


def mlp(T):
    F = T.nn.functional
    model = T.nn.Sequential(T.nn.Linear(4, 8), T.nn.ReLU(), T.nn.Linear(8, 3))
    return lambda: F.cross_entropy(model(T.ones(2, 4)), T.tensor([0, 2])), model.parameters()


def tanh_mse(T):
    model = T.nn.Sequential(T.nn.Linear(4, 8), T.nn.Tanh(), T.nn.Linear(8, 3), T.nn.Sigmoid())
    return lambda: T.nn.functional.mse_loss(model(T.ones(2, 4)), T.zeros(2, 3)), model.parameters()


def layer_norm(T):
    model = T.nn.LayerNorm(4)
    return lambda: model(T.ones(2, 4)).sum(), model.parameters()


def batched_linear(T):
    model = T.nn.Linear(4, 3)
    return lambda: model(T.ones(2, 5, 4)).pow(2).mean(), model.parameters()


def embedding(T):
    model = T.nn.Embedding(5, 4)
    return lambda: model(T.tensor([[0, 2], [1, 1]])).sum(), model.parameters()


def convolution(T):
    model = T.nn.Sequential(T.nn.Conv2d(2, 3, 3), T.nn.ReLU(), T.nn.MaxPool2d(2), T.nn.Flatten(), T.nn.Linear(3, 2))
    return lambda: model(T.ones(1, 2, 4, 4)).sum(), model.parameters()


def attention_by_hand(T):
    q = T.ones(2, 3, 4, requires_grad=True)

    def loss():
        weights = T.softmax(q @ q.transpose(-2, -1) / 2.0, -1)
        return (weights @ q).sum()

    return loss, [q]


def gelu_log_softmax(T):
    x = T.ones(2, 4, requires_grad=True)
    return lambda: T.nn.functional.nll_loss(T.log_softmax(T.nn.functional.gelu(x), -1), T.tensor([0, 1])), [x]


def views_and_joins(T):
    x = T.ones(2, 6, requires_grad=True)
    return lambda: T.cat([part.exp() for part in x.chunk(2, 1)], 0).t()[0].sum(), [x]


def shared_weight(T):
    w = T.ones(3, 3, requires_grad=True)
    return lambda: (w @ w + w).sum(), [w]


PROGRAMS = [
    mlp, tanh_mse, layer_norm, batched_linear, embedding, convolution, attention_by_hand,
    gelu_log_softmax, views_and_joins, shared_weight,
]  # fmt: skip


def names(T: Any, program: Any) -> Any:
    T.manual_seed(0)
    loss, parameters = program(T)
    parameters = list(parameters)
    mode = logging_mode(T)
    found = []
    for _ in range(2):  # the second time gradients are added to those of the first
        with mode:
            value = loss()
            forward = len(mode.log)
            value.backward()
        found.append((mode.log[:forward], mode.log[forward:]))
        mode.log.clear()
    return [tuple(map(with_numbers, half)) for half in found]


def with_numbers(log: list[str]) -> list[str]:
    """Return the names with the overloads for numbers that only code in C++ chooses put in Python's way."""
    return [name.replace(".Scalar", ".Tensor") if name in NUMBER_OVERLOADS else name for name in log]


NUMBER_OVERLOADS = ("aten.mul.Scalar", "aten.div.Scalar", "aten.div_.Scalar", "aten.add.Scalar")


@pytest.mark.parametrize("program", PROGRAMS)
def test_training_steps_are_made_of_torchs_operators(program):
    assert_same(lambda T: names(T, program))


def step(T: Any, make: Any) -> Any:
    weight = T.ones(2, 3, requires_grad=True)
    optimizer = make(T, [weight])
    mode = logging_mode(T)
    for _ in range(2):
        weight.grad = T.ones(2, 3)
        mode.log.clear()
        with mode:
            optimizer.step()
    return [name for name in with_numbers(mode.log) if not name.startswith("profiler.")]


@pytest.mark.parametrize(
    "make",
    [
        lambda T, weights: T.optim.SGD(weights, lr=0.1, foreach=False),
        lambda T, weights: T.optim.SGD(weights, lr=0.1, momentum=0.9, foreach=False),
        lambda T, weights: T.optim.Adagrad(weights, lr=0.1, foreach=False),
    ],
    ids=["sgd", "momentum", "adagrad"],
)
def test_optimizers_are_made_of_torchs_operators(make):
    assert_same(lambda T: collections.Counter(step(T, make)))


DIFFERENT = {
    "where": (lambda T: T.where(T.ones(2) > 0, T.ones(2), 0.0), "a number is an operand, not a tensor made of it"),
    "assignment": (lambda T: T.ones(2).__setitem__(0, 1), "a number is made a tensor by scalar_tensor"),
    "batch_norm": (
        lambda T: T.nn.functional.batch_norm(T.ones(2, 3), None, None, training=True),
        "no reserve of another backend is made",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_known_differences(name, request):
    call, reason = DIFFERENT[name]
    request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    def scenario(T):
        mode = logging_mode(T)
        with mode:
            call(T)
        return mode.log

    assert_same(scenario)


def test_a_transformer_is_made_of_torchs_operators():
    def scenario(T):
        T.manual_seed(0)
        layer = T.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        model = T.nn.Sequential(T.nn.Embedding(20, 8), T.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))
        mode = logging_mode(T)
        with mode:
            loss = model(T.arange(12).reshape(2, 6)).pow(2).mean()
            forward = len(mode.log)
            loss.backward()
        log = with_numbers(mode.log)
        # The fused attention's gradients have other strides than torch's, so that reshaping them copies elsewhere.
        layout = {"view", "clone", "_unsafe_view", "unsqueeze", "squeeze"}
        backward = [name for name in log[forward:] if name.split(".")[1] not in layout]
        return log[:forward], collections.Counter(backward)

    assert_same(scenario)


def counted(T: Any, call: Any) -> Any:
    mode = part(T, "utils.flop_counter").FlopCounterMode(display=False)
    with mode:
        call(T)
    counts = mode.get_flop_counts()
    return mode.get_total_flops(), {name: {str(op): n for op, n in one.items()} for name, one in counts.items()}


@pytest.mark.parametrize("program", [mlp, convolution, attention_by_hand, batched_linear, layer_norm])
def test_operations_are_counted_as_torch_counts_them(program):
    def scenario(T):
        loss, _ = program(T)
        return counted(T, lambda T: loss().backward())

    assert_same(scenario)


def test_products_are_counted():
    def scenario(T):
        def call(T):
            T.mm(T.ones(2, 3), T.ones(3, 4))
            T.bmm(T.ones(2, 2, 3), T.ones(2, 3, 4))
            T.baddbmm(T.ones(2, 2, 4), T.ones(2, 2, 3), T.ones(2, 3, 4))
            T.nn.functional.conv1d(T.ones(1, 4, 8), T.ones(4, 2, 3), groups=2)
            made = T.nn.functional.conv_transpose2d(
                T.ones(1, 2, 4, 4, requires_grad=True), T.ones(2, 3, 3, 3, requires_grad=True), stride=2
            )
            made.sum().backward()

        return counted(T, call)

    assert_same(scenario)


def test_formulas_can_be_given():
    def scenario(T):
        module = part(T, "utils.flop_counter")
        mode = module.FlopCounterMode(display=False, custom_mapping={T.ops.aten.mul: lambda a, b, out_shape: 7 * a[0]})
        with mode:
            T.ones(3) * T.ones(3)
        errors = []
        for target in (3, T.ops.aten.mm):
            try:
                module.register_flop_formula(target)(lambda *args, **kwargs: 0)
            except (ValueError, RuntimeError) as error:
                errors.append(error)
        return mode.get_total_flops(), errors

    assert_same(scenario)


@pytest.mark.parametrize("number", [0, 5, 999, 1000, 12345, 10**9, 10**15, 10**18])
def test_numbers_are_shown_in_units(number):
    def scenario(T):
        module = part(T, "utils.flop_counter")
        suffix = module.get_suffix_str(number)
        return suffix, module.convert_num_with_suffix(number, suffix), module.convert_to_percent_str(number, 3000)

    assert_same(scenario)


def test_modules_are_tracked_in_forward_and_backward():
    def scenario(T):
        tracker = part(T, "utils.module_tracker").ModuleTracker()
        log = []

        class Twice(T.nn.Module):
            def forward(self, x):
                log.append((sorted(tracker.parents), tracker.is_bw))
                return x * 2

        model = T.nn.Sequential(Twice(), T.nn.Sequential(Twice()))
        with tracker, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = model(T.ones(2, requires_grad=True))
            y.register_hook(lambda grad: log.append((sorted(tracker.parents), tracker.is_bw)))
            y.sum().backward()
            log.append((sorted(tracker.parents), tracker.is_bw))
        model(T.ones(2))
        return log

    assert_same(scenario)
