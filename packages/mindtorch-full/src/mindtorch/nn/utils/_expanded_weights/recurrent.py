"""Recurrent layers with expanded weights: computed at once, differentiated by the weights one example after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.autograd import Function
from mindtorch.autograd import grad as gradients

from .expanded_weights_utils import is_expanded, set_grad_sample_if_exists

RECURRENT = frozenset({"gru", "lstm", "rnn_relu", "rnn_tanh"})


class _Call(NamedTuple):
    """A call of a recurrent function: on a padded batch, or on packed data with the batch size of each step."""

    func: Callable[..., Any]
    sizes: list[int] | None
    hidden: Any
    weights: Sequence[Any]
    options: tuple[Any, ...]
    """has_biases, num_layers, dropout, train, bidirectional."""
    batch_first: bool

    def run(self, data: Any, hidden: Sequence[Any], weights: Sequence[Any], whole: bool) -> Any:
        """Return the outputs, of all examples or of one that has a batch dimension of extent 1."""
        state = list(hidden) if isinstance(self.hidden, (list, tuple)) else hidden[0]
        if whole and self.sizes is not None:
            return self.func(data, mindtorch.tensor(self.sizes), state, list(weights), *self.options)
        return self.func(data, state, list(weights), *self.options, self.batch_first)

    def count(self, data: Any) -> int:
        """Return the number of examples."""
        return self.sizes[0] if self.sizes is not None else data.shape[0 if self.batch_first else 1]

    def rows(self, example: int) -> list[int]:
        """Return where the steps of an example are in packed data."""
        places, start = [], 0
        for size in self.sizes or ():
            if size <= example:
                break
            places.append(start + example)
            start += size
        return places

    def example(self, data: Any, number: int) -> Any:
        """Return one example of a batch or of packed data."""
        if self.sizes is None:
            return data.narrow(0 if self.batch_first else 1, number, 1)
        return data[self.rows(number)].unsqueeze(0 if self.batch_first else 1)


def _read(func: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, _Call]:
    if isinstance(args[3], (list, tuple)):  # packed: the batch sizes come before the hidden states
        return args[0], _Call(func, args[1].tolist(), args[2], args[3], tuple(args[4:9]), True)
    return args[0], _Call(func, None, args[1], args[2], tuple(args[3:8]), bool(args[8]))


def _tensors(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _PerSample(Function):
    """One call: its inputs are the data, the hidden states and the tensors that the weights stand for."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
        """Compute the call on the whole batch."""
        ctx.call, ctx.tensors = call, [one.detach() for one in tensors]
        count = len(_tensors(call.hidden))
        return call.run(tensors[0], tensors[1 : 1 + count], tensors[1 + count :], True)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the data and the hidden states; those of the weights become samples of their tensors."""
        call: _Call = ctx.call
        count = len(_tensors(call.hidden))
        found = list(zip(*_each(call, ctx.tensors, grads), strict=True))
        for number, weight in enumerate(call.weights):
            set_grad_sample_if_exists(weight, lambda _, number=number: mindtorch.stack(found[1 + count + number]))
        hidden = [mindtorch.cat(one, 1) for one in found[1 : 1 + count]]
        return None, _joined(call, ctx.tensors[0], found[0]), *hidden, *[None] * len(call.weights)


def _each(call: _Call, tensors: Sequence[Any], grads: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield for each example the gradients of its data, its hidden states and the weights."""
    count = len(_tensors(call.hidden))
    for number in range(call.count(tensors[0])):
        hidden = [one.narrow(1, number, 1) for one in tensors[1 : 1 + count]]
        given = [call.example(tensors[0], number), *hidden, *tensors[1 + count :]]
        leaves = [one.detach().requires_grad_() for one in given]
        with mindtorch.enable_grad():
            outputs = call.run(leaves[0], leaves[1 : 1 + count], leaves[1 + count :], False)
        wanted = [call.example(grads[0], number), *[one.narrow(1, number, 1) for one in grads[1:]]]
        yield list(gradients(outputs, leaves, wanted))


def _joined(call: _Call, data: Any, parts: Sequence[Any]) -> Any:
    """Return the gradient of all data of those of the examples."""
    if call.sizes is None:
        return mindtorch.cat(list(parts), 0 if call.batch_first else 1)
    whole = mindtorch.zeros_like(data)
    for number, part in enumerate(parts):
        whole[call.rows(number)] = part.squeeze(0)
    return whole


def recurrent(func: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Return what a recurrent function gives, recorded so that a backward sets the samples of its weights.

    NotImplementedError for a layer that drops values out between its own layers: an example's draw is not repeated.
    """
    data, call = _read(func, args)
    if call.options[2] and call.options[3] and call.options[1] > 1:
        raise NotImplementedError("ExpandedWeights: recurrent layers with dropout are not differentiated per example")
    for one in call.weights:
        if is_expanded(one) and call.count(data) != one.batch_size and not one.allow_smaller_batches:
            raise RuntimeError(
                f"Expected ExpandedWeights to have batch size matching input but got input batch size of {call.count(data)} "
                f"with ExpandedWeight of batch size {one.batch_size}"
            )
    weights = [one.orig_weight if is_expanded(one) else one for one in call.weights]
    hidden = [one for one in _tensors(call.hidden) if isinstance(one, Tensor)]
    with mindtorch._C.DisableTorchFunctionSubclass():
        return _PerSample.apply(call, data, *hidden, *weights)
