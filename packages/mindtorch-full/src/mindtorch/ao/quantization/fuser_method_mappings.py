"""How modules that follow each other are made one, by their types."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mindtorch.ao.nn.intrinsic as intrinsic
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.ao.quantization.utils import MatchAllNode, get_combined_dict
from mindtorch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "fuse_conv_bn",
    "fuse_conv_bn_relu",
    "fuse_convtranspose_bn",
    "fuse_linear_bn",
    "get_fuser_method",
    "get_fuser_method_new",
]

_CONV_BN = {nn.Conv1d: intrinsic.ConvBn1d, nn.Conv2d: intrinsic.ConvBn2d, nn.Conv3d: intrinsic.ConvBn3d}
_CONV_BN_RELU = {
    nn.Conv1d: intrinsic.ConvBnReLU1d,
    nn.Conv2d: intrinsic.ConvBnReLU2d,
    nn.Conv3d: intrinsic.ConvBnReLU3d,
}
_CONV_RELU = {nn.Conv1d: intrinsic.ConvReLU1d, nn.Conv2d: intrinsic.ConvReLU2d, nn.Conv3d: intrinsic.ConvReLU3d}


def _check_norm(bn: Any, channels: int, what: str, rank: str, end: str) -> None:
    if bn.num_features != channels:
        raise AssertionError(f"{what} must match num_features of BatchNorm{rank}{end}")
    if not bn.affine:
        raise AssertionError(f"Only support fusing BatchNorm{rank} with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError(f"Only support fusing BatchNorm{rank} with tracking_running_stats set to True")


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> Any:
    """Return a convolution and its normalization as one: in training a pair, else one convolution.

    >>> import torch.ao.quantization as quantization
    >>> layer = quantization.fuse_conv_bn(False, torch.nn.Conv2d(1, 1, 1).eval(), torch.nn.BatchNorm2d(1).eval())
    >>> type(layer).__name__
    'Conv2d'
    """
    if conv.training != bn.training:
        raise AssertionError("Conv and BN both must be in the same mode (train or eval).")
    if not is_qat:
        return fuse_conv_bn_eval(conv, bn)
    _check_norm(bn, conv.out_channels, "Output channel of Conv2d", "2d", ".")
    kind = _CONV_BN.get(type(conv))
    if kind is None:
        raise NotImplementedError(f"Cannot fuse train modules: {(conv, bn)}")
    return kind(conv, bn)


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: Any) -> Any:
    """Return a convolution, its normalization and a ReLU as one.

    >>> import torch.ao.quantization as quantization
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1), torch.nn.ReLU()).eval()
    >>> type(quantization.fuse_conv_bn_relu(False, *model)).__name__
    'ConvReLU2d'
    """
    if not (conv.training == bn.training == relu.training):
        raise AssertionError("Conv and BN both must be in the same mode (train or eval).")
    if is_qat:
        _check_norm(bn, conv.out_channels, "Output channel of Conv2d", "2d", "")
        trained = _CONV_BN_RELU.get(type(conv))
        if trained is None:
            raise NotImplementedError(f"Cannot fuse train modules: {(conv, bn, relu)}")
        return trained(conv, bn, relu)
    kind = _CONV_RELU.get(type(conv))
    if kind is None:
        raise NotImplementedError(f"Cannot fuse eval modules: {(conv, bn, relu)}")
    return kind(fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat: bool, linear: Any, bn: Any) -> Any:
    """Return a linear layer and its normalization as one.

    >>> import torch.ao.quantization as quantization
    >>> type(
    ...     quantization.fuse_linear_bn(False, torch.nn.Linear(1, 1).eval(), torch.nn.BatchNorm1d(1).eval())
    ... ).__name__
    'Linear'
    """
    if linear.training != bn.training:
        raise AssertionError("Linear and BN both must be in the same mode (train or eval).")
    if not is_qat:
        return fuse_linear_bn_eval(linear, bn)
    _check_norm(bn, linear.out_features, "Output features of Linear", "1d", "")
    return intrinsic.LinearBn1d(linear, bn)


def fuse_convtranspose_bn(is_qat: bool, convt: Any, bn: Any) -> Any:
    """Return a transposed convolution and its normalization as one, outside of training alone.

    >>> import torch.ao.quantization as quantization
    >>> convolution, norm = torch.nn.ConvTranspose2d(1, 1, 1).eval(), torch.nn.BatchNorm2d(1).eval()
    >>> type(quantization.fuse_convtranspose_bn(False, convolution, norm)).__name__
    'ConvTranspose2d'
    """
    if convt.training != bn.training:
        raise AssertionError("ConvTranspose and BN both must be in the same mode (train or eval).")
    if is_qat:
        raise Exception("Fusing ConvTranspose+BatchNorm not yet supported in QAT.")
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _sequential_wrapper2(sequential: Any) -> Callable[[bool, Any, Any], Any]:
    """Return a function that puts two modules into a container, while training or not."""
    return lambda is_qat, m1, m2: sequential(m1, m2)


_DEFAULT_OP_LIST_TO_FUSER_METHOD: dict[tuple[Any, ...], Any] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn,
    (nn.Conv1d, nn.BatchNorm1d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn,
    (nn.Conv2d, nn.BatchNorm2d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn,
    (nn.Conv3d, nn.BatchNorm3d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv1d, nn.ReLU): _sequential_wrapper2(intrinsic.ConvReLU1d),
    (nn.Conv2d, nn.ReLU): _sequential_wrapper2(intrinsic.ConvReLU2d),
    (nn.Conv3d, nn.ReLU): _sequential_wrapper2(intrinsic.ConvReLU3d),
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.Linear, nn.ReLU): _sequential_wrapper2(intrinsic.LinearReLU),
    (nn.BatchNorm2d, nn.ReLU): _sequential_wrapper2(intrinsic.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): _sequential_wrapper2(intrinsic.BNReLU3d),
    (nn.ConvTranspose1d, nn.BatchNorm1d): fuse_convtranspose_bn,
    (nn.ConvTranspose2d, nn.BatchNorm2d): fuse_convtranspose_bn,
    (nn.ConvTranspose3d, nn.BatchNorm3d): fuse_convtranspose_bn,
}


def get_fuser_method(op_list: Any, additional_fuser_method_mapping: Any = None) -> Any:
    """Return what makes modules of these types one; AssertionError where nothing does.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_fuser_method((torch.nn.Conv2d, torch.nn.BatchNorm2d)).__name__
    'fuse_conv_bn'
    """
    found = get_combined_dict(_DEFAULT_OP_LIST_TO_FUSER_METHOD, additional_fuser_method_mapping or {}).get(op_list)
    if found is None:
        raise AssertionError(f"did not find fuser method for: {op_list} ")
    return found


def _get_valid_patterns(op_pattern: Any) -> list[Any]:
    if isinstance(op_pattern, (tuple, list)):
        return list(itertools.product(*map(_get_valid_patterns, op_pattern)))
    return [op_pattern, MatchAllNode]


def get_fuser_method_new(op_pattern: Any, fuser_method_mapping: Any) -> Any:
    """Return what makes the modules of a pattern one; AssertionError where nothing does.

    >>> import torch.ao.quantization as quantization
    >>> from torch.ao.quantization.fuser_method_mappings import get_fuser_method_new
    >>> methods = {(torch.nn.Conv2d, torch.nn.ReLU): quantization.fuse_conv_bn}
    >>> get_fuser_method_new((torch.nn.Conv2d, torch.nn.ReLU), methods).__name__
    'fuse_conv_bn'
    """
    pattern = op_pattern
    for pattern in _get_valid_patterns(op_pattern):
        found = fuser_method_mapping.get(pattern)
        if found is not None:
            return found
    raise AssertionError(f"did not find fuser method for: {pattern} ")


adopt(globals())
