"""Recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.decomp.rnn import composed_layer
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Tensor

from ..backward import grad as gradients
from ..derivative import derivative, joint


def _differentiable(
    tensors: tuple[Any, ...], grads: Sequence[Tensor], needs: Sequence[bool], options: Any
) -> list[Any]:
    """Return the gradients by way of the composed layer, so that they can be differentiated again."""
    own = [aten.alias(tensor) if needed else tensor for tensor, needed in zip(tensors, needs, strict=True)]
    outputs = composed_layer(*own, *options)
    pairs = [pair for pair in zip(outputs, grads[: len(outputs)], strict=True) if pair[1] is not None]
    wanted = [tensor for tensor, needed in zip(own, needs, strict=True) if needed]
    given = [grad for _, grad in pairs]
    found = iter(
        gradients([output for output, _ in pairs], wanted, given, create_graph=state.mode.grad, allow_unused=True)
    )
    return [next(found) if needed else None for needed in needs]


@joint("input", "weight0", "weight1", "weight2", "weight3", "hx_", "cx_")
def layer(
    grads: Sequence[Tensor],
    needs: Sequence[bool],
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    result0: Tensor,
    result1: Tensor,
    result2: Tensor,
    result3: Tensor | None,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
) -> Any:
    """All gradients from one kernel; of other ops where they may be differentiated again.

    The layer is one in one direction; there are biases, of zeros where it has none.
    """
    tensors = (input, weight0, weight1, weight2, weight3, hx_, cx_)
    if state.mode.grad or result3 is None:
        return _differentiable(tensors, grads, needs, (reverse, batch_sizes, mode))
    return aten.mkldnn_rnn_layer_backward(
        *tensors,
        result0,
        result1,
        result2,
        *grads[:3],
        reverse,
        mode,
        hx_.shape[-1],
        num_layers=1,
        has_biases=True,
        train=True,
        bidirectional=False,
        batch_sizes=batch_sizes,
        batch_first=False,
        workspace=result3,
    )


derivative("mkldnn_rnn_layer", layer, outputs=(0, 1, 2))
