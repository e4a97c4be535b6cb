"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from ..derivative import derivative, joint
from .numbers import conj


@joint("input", "weight", "bias")
def convolution(
    grad: Tensor,
    needs: Sequence[bool],
    input: Tensor,
    weight: Tensor,
    bias_spec: Spec | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """The three gradients from one kernel."""
    sizes = None if bias_spec is None else list(bias_spec.shape)
    return aten.convolution_backward(
        grad,
        conj(input),
        conj(weight),
        sizes,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        list(needs),
    )


def _added(values: list[Any]) -> Any:
    given = [value for value in values if value is not None]
    if not given:
        return None
    total = given[0]
    for value in given[1:]:
        total = aten.add(total, value)
    return total


@joint("grad_output", "input", "weight")
def convolution_twice(
    grads: Sequence[Tensor],
    needs: Sequence[bool],
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """Every gradient of a convolution is linear in the gradient and in one other operand, and is one again."""
    to_input, to_weight, to_bias = grads
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    outer_conj = conj(grad_output)

    def forward(x: Tensor, w: object) -> Any:
        return aten.convolution(x, w, None, *settings)

    def backward(x: TensorBase, w: object, place: int) -> Any:
        mask = [place == number for number in range(3)]
        return aten.convolution_backward(outer_conj, x, w, None, *settings, mask)[place]

    outer = None
    if needs[0]:
        outer = _added([
            None if to_input is None else forward(to_input, conj(weight)),
            None if to_weight is None else forward(conj(input), to_weight),
            None if to_bias is None else aten.expand(
                aten.reshape(to_bias, [1, -1, *[1] * (len(grad_output.shape) - 2)]), list(grad_output.shape)
            ),
        ])  # fmt: skip
    return (
        outer,
        backward(input, to_weight, 0) if needs[1] and to_weight is not None else None,
        backward(to_input, weight, 1) if needs[2] and to_input is not None else None,
    )


@joint("self", "weight", "bias")
def conv_tbc(grad: Tensor, self: Tensor, weight: Tensor, bias: Tensor, pad: int) -> Any:
    """`conv_tbc`."""
    return aten.conv_tbc_backward(grad, self, weight, bias, pad)


derivative("convolution", convolution)
derivative("convolution_backward", convolution_twice)
derivative("conv_tbc", conv_tbc)
