"""Gradients per example: `call_for_per_sample_grads` and `ExpandedWeight` give what torch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt
import mindtorch.nn.utils._expanded_weights.expanded_weights_utils
import mindtorch.nn.utils._per_sample_grad

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.nn.utils._per_sample_grad", reason="oracle")


def _values(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def _filled(lib: Any, module: Any) -> Any:
    for place, one in enumerate(module.parameters()):
        one.data = lib.tensor(_values(tuple(one.shape), place))
    return module


MODULES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "linear": (lambda lib: lib.nn.Linear(4, 3), (5, 2, 4)),
    "conv1d": (lambda lib: lib.nn.Conv1d(2, 4, 2, padding="same", groups=2), (3, 2, 5)),
    "conv2d": (lambda lib: lib.nn.Conv2d(2, 3, 2, stride=2, padding=1, padding_mode="circular"), (3, 2, 4, 4)),
    "conv3d": (lambda lib: lib.nn.Conv3d(1, 2, 2, bias=False), (2, 1, 3, 3, 3)),
    "group_norm": (lambda lib: lib.nn.GroupNorm(2, 4), (3, 4, 2)),
    "instance_norm": (lambda lib: lib.nn.InstanceNorm1d(4, affine=True, track_running_stats=True), (3, 4, 5)),
    "layer_norm": (lambda lib: lib.nn.LayerNorm(4), (3, 2, 4)),
    "several": (
        lambda lib: lib.nn.Sequential(lib.nn.Conv1d(2, 2, 2), lib.nn.ReLU(), lib.nn.Flatten(), lib.nn.Linear(8, 2)),
        (3, 2, 5),
    ),
}


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str, reduction: str) -> None:
    make, shape = MODULES[name]
    found = []
    for lib in (torch, mt):
        module = _filled(lib, make(lib).to(lib.float64))
        value = lib.tensor(_values(shape, 100), requires_grad=True)
        call = lib.nn.utils._per_sample_grad.call_for_per_sample_grads(module, loss_reduction=reduction)
        getattr(call(value).sin(), reduction)().backward()
        found.append([one.grad_sample for one in module.parameters()] + [value.grad, *module.buffers()])
        assert all(one.grad is None for one in module.parameters())
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"max_norm": 1.0}, {"sparse": True}, {"scale_grad_by_freq": True}]
)
def test_embeddings(options: dict[str, Any]) -> None:
    found = []
    for lib in (torch, mt):
        module = _filled(lib, lib.nn.Embedding(6, 4, **options).to(lib.float64))
        indices = lib.tensor([[1, 2], [5, 5], [0, 1]])
        call = lib.nn.utils._per_sample_grad.call_for_per_sample_grads(module)
        call(indices).sin().sum().backward()
        found.append((module.weight.grad_sample, module.weight.detach()))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10, atol=1e-12)


def test_a_weight_that_two_calls_share() -> None:
    for lib in (torch, mt):
        weight = lib.ones(1, 2, requires_grad=True)
        expanded = lib.nn.utils._expanded_weights.ExpandedWeight(weight, 2, "sum")
        inputs = lib.tensor([[1.0, 2.0], [3.0, 4.0]])
        (lib.nn.functional.linear(inputs, expanded) + lib.nn.functional.linear(inputs, expanded)).sum().backward()
        assert weight.grad_sample.tolist() == [[[2.0, 4.0]], [[6.0, 8.0]]]


def test_smaller_batches() -> None:
    for lib in (torch, mt):
        weight = lib.ones(1, 2, requires_grad=True)
        expanded = lib.nn.utils._expanded_weights.ExpandedWeight(weight, 3, "sum")
        expanded.set_allow_smaller_batches(True)
        lib.nn.functional.linear(lib.tensor([[1.0, 2.0]]), expanded).sum().backward()
        assert weight.grad_sample.tolist() == [[[1.0, 2.0]], [[0.0, 0.0]], [[0.0, 0.0]]]


def _expanded(lib: Any, *shape: int, size: int = 3) -> Any:
    made = lib.ones(*shape, requires_grad=True)
    return lib.nn.utils._expanded_weights.ExpandedWeight(made, size, "sum")


REFUSED: dict[str, Callable[[Any, Any], object]] = {
    "no tensor": lambda lib, F: lib.nn.utils._expanded_weights.ExpandedWeight(3, 3, "sum"),
    "no gradient": lambda lib, F: lib.nn.utils._expanded_weights.ExpandedWeight(lib.ones(2), 3, "sum"),
    "another function": lambda lib, F: lib.add(lib.ones(3, 4), _expanded(lib, 4)),
    "another batch": lambda lib, F: F.linear(lib.ones(3, 4), _expanded(lib, 2, 4, size=4)),
    "input": lambda lib, F: F.linear(_expanded(lib, 3, 4), lib.ones(2, 4)),
    "no batch": lambda lib, F: F.linear(lib.ones(4), _expanded(lib, 2, 4)),
    "empty batch": lambda lib, F: F.linear(lib.ones(0, 4), _expanded(lib, 2, 4)),
    "layer norm of all": lambda lib, F: F.layer_norm(lib.ones(3, 4), (3, 4), _expanded(lib, 3, 4)),
    "embedding of one": lambda lib, F: F.embedding(lib.tensor([0, 1]), _expanded(lib, 2, 4)),
    "normal weight": lambda lib, F: (
        F.linear(lib.ones(3, 4), _expanded(lib, 2, 4), lib.ones(2, requires_grad=True)).sum().backward()
    ),
    "no module": lambda lib, F: lib.nn.utils._per_sample_grad.call_for_per_sample_grads("no"),
    "size of another type": lambda lib, F: _called(lib, batch_size=6.4),
    "negative size": lambda lib, F: _called(lib, batch_size=-1),
    "other reduction": lambda lib, F: _called(lib, loss_reduction=""),
    "no tensor among arguments": lambda lib, F: _called(lib)(3),
    "two sizes": lambda lib, F: _called(lib)(lib.ones(3, 4), lib.ones(2, 4)),
    "batch norm": lambda lib, F: lib.nn.utils._per_sample_grad.call_for_per_sample_grads(lib.nn.BatchNorm1d(4))(
        lib.ones(3, 4)
    ),
}


def _called(lib: Any, **options: Any) -> Any:
    return lib.nn.utils._per_sample_grad.call_for_per_sample_grads(lib.nn.Linear(4, 2), **options)


@pytest.mark.parametrize("name", REFUSED)
def test_texts(name: str) -> None:
    said = []
    for lib in (torch, mt):
        with pytest.raises(RuntimeError) as raised:
            REFUSED[name](lib, lib.nn.functional)
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_second_call_before_the_samples_are_cleared() -> None:
    for lib in (torch, mt):
        module = lib.nn.Linear(2, 1)
        call = lib.nn.utils._per_sample_grad.call_for_per_sample_grads
        call(module)(lib.ones(3, 2)).sum().backward()
        with pytest.raises(RuntimeError, match="incorrect for multiple calls without"):
            call(module)


def test_parts_of_the_machinery() -> None:
    for lib in (torch, mt):
        utils = lib.nn.utils._expanded_weights.expanded_weights_utils
        assert utils.standard_kwargs(("bias",), (1, 2, 3)) == ((1, 2), {"bias": 3})
        tensor = lib.arange(24.0).reshape(2, 3, 4)
        assert utils.sum_over_all_but_batch_and_last_n(tensor, 1).tolist() == tensor.sum(1).tolist()
        assert utils.sum_over_all_but_batch_and_last_n(tensor, 2) is tensor
        assert utils.unpack_expanded_weight_or_tensor(4) is None
        assert utils.unpack_expanded_weight_or_tensor(tensor, lambda one: one.dim()) == 3
        assert (
            utils.forward_helper(lib.nn.functional.linear, (lib.ones(3, 2), _expanded(lib, 1, 2)), {}).tolist()
            == [[2.0]] * 3
        )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers(name: str, bidirectional: bool, packed: bool) -> None:
    """Torch's gradients are those of each example by itself."""

    def layer(lib: Any) -> Any:
        made = getattr(lib.nn, name)(2, 3, num_layers=2, bidirectional=bidirectional, batch_first=True)
        return _filled(lib, made.to(lib.float64))

    module, reference = layer(mt), layer(torch)
    values, lengths = _values((3, 4, 2), 9), [4, 2, 1]
    value = mt.tensor(values, requires_grad=True)
    call = mt.nn.utils._per_sample_grad.call_for_per_sample_grads(module)
    if packed:
        given = mt.nn.utils.rnn.pack_padded_sequence(value, lengths, batch_first=True)
        call(given)[0].data.sin().sum().backward()
    else:
        call(value)[0].sin().sum().backward()
    for number, length in enumerate(lengths):
        example = torch.tensor(values[number : number + 1, : length if packed else None], requires_grad=True)
        found = torch.autograd.grad(reference(example)[0].sin().sum(), [example, *reference.parameters()])
        np.testing.assert_allclose(
            value.grad[number, : example.shape[1]].numpy(), found[0][0].numpy(), rtol=1e-9, atol=1e-11
        )
        for one, theirs in zip(module.parameters(), found[1:], strict=True):
            np.testing.assert_allclose(one.grad_sample[number].numpy(), theirs.numpy(), rtol=1e-9, atol=1e-11)


def test_recurrent_layers_with_dropout_raise() -> None:
    module = mt.nn.LSTM(2, 3, num_layers=2, dropout=0.5)
    with pytest.raises(NotImplementedError, match="dropout"):
        mt.nn.utils._per_sample_grad.call_for_per_sample_grads(module, batch_first=False)(mt.ones(4, 2, 2))
