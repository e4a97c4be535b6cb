"""Gradients of convolutions with respect to input and weight, as functions."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn._tuples import _ntuple
from mindtorch.ops_table import aten

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _backward(
    dims: int, grad_output: Tensor, input: Tensor, weight: Tensor, options: tuple[Any, ...], wanted: int
) -> Tensor:
    """Return one of the gradients (0: input, 1: weight) of a convolution over ``dims`` dimensions."""
    stride, padding, dilation, groups = options
    as_tuple = _ntuple(dims)
    mask = [wanted == 0, wanted == 1, False]
    return aten.convolution_backward(
        grad_output,
        input,
        weight,
        None,
        as_tuple(stride),
        as_tuple(padding),
        as_tuple(dilation),
        False,
        [0],
        groups,
        mask,
    )[wanted]


def _input(dims: int, input_size: Any, weight: Tensor, grad_output: Tensor, *options: Any) -> Tensor:
    # Only the geometry of the input matters.
    input = grad_output.new_empty(1).expand(input_size)
    return _backward(dims, grad_output, input, weight, options, 0)


def _weight(dims: int, input: Tensor, weight_size: Any, grad_output: Tensor, *options: Any) -> Tensor:
    weight = grad_output.new_empty(1).expand(weight_size)
    return _backward(dims, grad_output, input, weight, options, 1)


def conv1d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv1d`` with respect to an input of ``input_size``.

    >>> torch.nn.grad.conv1d_input((1, 1, 2), torch.ones(1, 1, 1), torch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """
    return _input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv1d`` with respect to a weight of ``weight_size``.

    >>> torch.nn.grad.conv1d_weight(torch.ones(1, 1, 2), (1, 1, 1), torch.ones(1, 1, 2))
    tensor([[[2.]]])
    """
    return _weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv2d`` with respect to an input of ``input_size``.

    >>> torch.nn.grad.conv2d_input((1, 1, 1, 2), torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """
    return _input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv2d`` with respect to a weight of ``weight_size``.

    >>> torch.nn.grad.conv2d_weight(torch.ones(1, 1, 1, 2), (1, 1, 1, 1), torch.ones(1, 1, 1, 2))
    tensor([[[[2.]]]])
    """
    return _weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv3d`` with respect to an input of ``input_size``.

    >>> torch.nn.grad.conv3d_input((1, 1, 1, 1, 2), torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 1.]]]]])
    """
    return _input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv3d`` with respect to a weight of ``weight_size``.

    >>> torch.nn.grad.conv3d_weight(torch.ones(1, 1, 1, 1, 2), (1, 1, 1, 1, 1), torch.ones(1, 1, 1, 1, 2))
    tensor([[[[[2.]]]]])
    """
    return _weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)


adopt(globals())
