"""Convolutions."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative, joint
from .numbers import conj


@joint("input", "weight", "bias")
def convolution(
    grad: Any,
    needs: Any,
    input: Any,
    weight: Any,
    bias_spec: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
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
    grads: Any,
    needs: Any,
    grad_output: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """Every gradient of a convolution is linear in the gradient and in one other operand, and is one again."""
    to_input, to_weight, to_bias = grads
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    outer_conj = conj(grad_output)

    def forward(x: Any, w: Any) -> Any:
        return aten.convolution(x, w, None, *settings)

    def backward(x: Any, w: Any, place: int) -> Any:
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
def conv_tbc(grad: Any, self: Any, weight: Any, bias: Any, pad: int) -> Any:
    """`conv_tbc`."""
    return aten.conv_tbc_backward(grad, self, weight, bias, pad)


derivative("convolution", convolution)
derivative("convolution_backward", convolution_twice)
derivative("conv_tbc", conv_tbc)
