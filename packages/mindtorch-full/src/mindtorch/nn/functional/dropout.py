"""Dropout of elements and of channels."""

import warnings

from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten
from mindtorch_dispatch.frames import frames_up


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the rest by 1/(1-p).

    >>> torch.nn.functional.dropout(torch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    _check_probability(p)
    return aten.dropout_(input, p, training) if inplace else aten.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Drop elements so that mean and variance stay as they are in a self-normalizing network.

    >>> torch.nn.functional.alpha_dropout(torch.ones(2), training=False)
    tensor([1., 1.])
    """
    _check_probability(p)
    return aten.alpha_dropout_(input, p, training) if inplace else aten.alpha_dropout(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Drop whole channels as :func:`alpha_dropout` drops elements.

    >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 1, 2), training=False)
    tensor([[[1., 1.]]])
    """
    _check_probability(p)
    op = aten.feature_alpha_dropout_ if inplace else aten.feature_alpha_dropout
    return op(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L).

    >>> torch.nn.functional.dropout1d(torch.ones(1, 1, 2), training=False)
    tensor([[[1., 1.]]])
    """
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _drop_channels_of_batch(input, 3, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, H, W), or of (N, C, L).

    >>> torch.nn.functional.dropout2d(torch.ones(1, 1, 1, 2), training=False)
    tensor([[[[1., 1.]]]])
    """
    _check_probability(p)
    _warn_about_dims("dropout2d", input.dim(), (3, 4), 2)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change "
            "in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
            "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=frames_up(2),
        )
    return _drop_channels(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W).

    >>> torch.nn.functional.dropout3d(torch.ones(1, 1, 1, 1, 2), training=False)
    tensor([[[[[1., 1.]]]]])
    """
    _check_probability(p)
    _warn_about_dims("dropout3d", input.dim(), (4, 5), 3)
    return _drop_channels_of_batch(input, 5, p, training, inplace)


def _drop_channels_of_batch(input: Tensor, dims: int, p: float, training: bool, inplace: bool) -> Tensor:
    """Zero channels of a batch, which has so many dimensions, or of one sample."""
    if input.dim() == dims:
        return _drop_channels(input, p, training, inplace)
    batched = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _drop_channels(batched, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _drop_channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    op = aten.feature_dropout_ if inplace else aten.feature_dropout
    return op(input, p, training)


def _warn_about_dims(name: str, dims: int, expected: tuple[int, int], spatial: int) -> None:
    if dims in expected:
        return
    warnings.warn(
        f"{name}: Received a {dims}-D input to {name}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} "
        f"exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and "
        f"an optional batch dimension (i.e. {expected[0]}D or {expected[1]}D inputs).",
        stacklevel=frames_up(3),
    )
