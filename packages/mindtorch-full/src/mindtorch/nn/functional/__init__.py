"""Stateless forms of the layers, by family.

Functions that are nothing but an op (``conv2d``, ``gelu``, ``linear``, ...) are the function that ``torch._C._nn`` or
``torch`` has, bound on first use.
"""

from typing import TYPE_CHECKING, Any

import mindtorch as torch
from mindtorch import _C
from mindtorch._naming import adopt
from mindtorch._overridable import make_overridable
from mindtorch.nn import grad as grad
from mindtorch.nn.functional.activation import (
    _get_softmax_dim,
    celu,
    elu,
    glu,
    gumbel_softmax,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    rrelu,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softsign,
    tanh,
    tanhshrink,
    threshold,
)
from mindtorch.nn.functional.attention import (
    _canonical_mask,
    _check_key_padding_mask,
    _in_projection,
    _in_projection_packed,
    _mha_shape_check,
    _none_or_dtype,
    multi_head_attention_forward,
)
from mindtorch.nn.functional.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from mindtorch.nn.functional.embedding import (
    _no_grad_embedding_renorm_,
    embedding,
    embedding_bag,
)
from mindtorch.nn.functional.fold import (
    fold,
    unfold,
)
from mindtorch.nn.functional.grouped import grouped_mm
from mindtorch.nn.functional.linear_loss import linear_cross_entropy
from mindtorch.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from mindtorch.nn.functional.margin_loss import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from mindtorch.nn.functional.normalization import (
    _verify_batch_size,
    _verify_spatial_size,
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from mindtorch.nn.functional.padding import (
    pad,
)
from mindtorch.nn.functional.pooling import (
    _unpool_output_size,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from mindtorch.nn.functional.upsampling import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from mindtorch.nn.functional.vision import (
    GRID_SAMPLE_INTERPOLATION_MODES,
    GRID_SAMPLE_PADDING_MODES,
    affine_grid,
    grid_sample,
)

if TYPE_CHECKING:
    from mindtorch._operators.nn_functional import *  # noqa: F403 - stubs of the names below (tools/stubs.py)

# Name here -> name of the op.
_OPS = {
    name: name
    for name in (
        "adaptive_avg_pool1d",
        "avg_pool1d",
        "avg_pool2d",
        "avg_pool3d",
        "bilinear",
        "celu_",
        "channel_shuffle",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_tbc",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "cosine_similarity",
        "elu_",
        "gelu",
        "hardshrink",
        "hardtanh_",
        "leaky_relu_",
        "linear",
        "native_channel_shuffle",
        "one_hot",
        "pairwise_distance",
        "pdist",
        "pixel_shuffle",
        "pixel_unshuffle",
        "prelu",
        "relu_",
        "rrelu_",
        "scaled_dot_product_attention",
        "selu_",
        "softplus",
        "softshrink",
        "threshold_",
    )
}
_OPS["logsigmoid"] = "log_sigmoid"

_OF_OVERRIDES = (
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
)
"""What copies of torch's functions import from here, to ask their arguments first."""

NOT_OVERRIDABLE = frozenset("grouped_mm sigmoid tanh upsample upsample_bilinear upsample_nearest".split())
"""Functions of Python that only call others; those ask."""

__all__ = [
    "GRID_SAMPLE_INTERPOLATION_MODES",
    "GRID_SAMPLE_PADDING_MODES",
    "_canonical_mask",
    "_check_key_padding_mask",
    "_get_softmax_dim",
    "_in_projection",
    "_in_projection_packed",
    "_mha_shape_check",
    "_no_grad_embedding_renorm_",
    "_none_or_dtype",
    "_threshold",
    "_unpool_output_size",
    "_verify_batch_size",
    "_verify_spatial_size",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "pad",
    "poisson_nll_loss",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def __getattr__(name: str) -> Any:
    """Bind the op ``name`` on first use; AttributeError, in torch's words, where there is none."""
    op = _OPS.get(name)
    if name in _OF_OVERRIDES:
        value = getattr(torch.overrides, name)
    elif op is not None:
        value = vars(_C._nn).get(op) or getattr(torch, op)
    else:
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_OPS, *_OF_OVERRIDES})


adopt(globals())
make_overridable(globals(), [name for name in __all__ if name not in NOT_OVERRIDABLE and not name.startswith("_")])
__all__ += [*_OPS, *_OF_OVERRIDES]  # bound when they are first asked for, which a star import does
_threshold = threshold
