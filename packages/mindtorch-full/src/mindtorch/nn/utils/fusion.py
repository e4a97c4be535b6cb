"""Folding batch normalization into the layer before it."""

import copy
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a copy of ``conv`` that does what ``conv`` and then ``bn`` do; both must be in evaluation mode.

    >>> fused = torch.nn.utils.fuse_conv_bn_eval(torch.nn.Conv2d(1, 2, 1).eval(), torch.nn.BatchNorm2d(2).eval())
    >>> fused.weight.shape
    torch.Size([2, 1, 1, 1])
    """
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return weight and bias of the fused convolution.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> torch.nn.utils.fuse_conv_bn_weights(torch.ones(1, 1, 1), None, zero, one, 0.0, one, zero)[0]
    Parameter containing:
    tensor([[[1.]]])
    """
    weight_dtype = conv_w.dtype
    bias_dtype = conv_b.dtype if conv_b is not None else weight_dtype
    conv_b = mindtorch.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = mindtorch.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = mindtorch.zeros_like(bn_rm) if bn_b is None else bn_b
    inverse_std = mindtorch.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    shape += [1] * (len(conv_w.shape) - 2)
    weight = (conv_w * (bn_w * inverse_std).reshape(shape)).to(dtype=weight_dtype)
    bias = ((conv_b - bn_rm) * inverse_std * bn_w + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a copy of ``linear`` that does what ``linear`` and then ``bn`` do; both must be in evaluation mode.

    >>> torch.nn.utils.fuse_linear_bn_eval(torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3).eval())
    Linear(in_features=2, out_features=3, bias=True)
    """
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(linear)
    # A batch norm of one feature would normalize over the features, which no linear layer does.
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got linear.out_features="
            f"{linear.out_features} and bn.num_features={bn.num_features}"
        )
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Return weight and bias of the fused linear layer.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> torch.nn.utils.fuse_linear_bn_weights(torch.ones(1, 1), None, zero, one, 0.0, one, zero)[0]
    Parameter containing:
    tensor([[1.]])
    """
    weight_dtype = linear_w.dtype
    bias_dtype = linear_b.dtype if linear_b is not None else weight_dtype
    linear_b = mindtorch.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * mindtorch.rsqrt(bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(dtype=weight_dtype)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)


adopt(globals())
