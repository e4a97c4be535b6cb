"""Functions of the op table bound into namespaces: `torch.add`, `torch._C._nn.gelu`."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import function as function_of
from mindtorch_dispatch.table import find_packet, packets

INPLACE_FUNCTIONS = [
    "abs_",
    "acos_",
    "acosh_",
    "addmv_",
    "arccos_",
    "arccosh_",
    "arcsin_",
    "arcsinh_",
    "arctan_",
    "arctanh_",
    "as_strided_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "celu_",
    "ceil_",
    "clamp_",
    "clamp_max_",
    "clamp_min_",
    "clip_",
    "conj_physical_",
    "cos_",
    "cosh_",
    "deg2rad_",
    "dropout_",
    "embedding_renorm_",
    "feature_alpha_dropout_",
    "alpha_dropout_",
    "feature_dropout_",
    "erf_",
    "erfc_",
    "exp2_",
    "exp_",
    "expm1_",
    "fill_",
    "fix_",
    "floor_",
    "frac_",
    "gcd_",
    "i0_",
    "index_put_",
    "lcm_",
    "ldexp_",
    "log10_",
    "log1p_",
    "log2_",
    "log_",
    "logit_",
    "nan_to_num_",
    "neg_",
    "negative_",
    "rad2deg_",
    "reciprocal_",
    "relu_",
    "resize_as_",
    "round_",
    "rrelu_",
    "rsqrt_",
    "selu_",
    "sigmoid_",
    "sin_",
    "sinc_",
    "sinh_",
    "sqrt_",
    "square_",
    "tan_",
    "tanh_",
    "threshold_",
    "trunc_",
    "xlogy_",
    "zero_",
]
"""In-place ops that upstream offers as functions too."""

_SPACES = ("linalg_", "fft_", "special_")
"""What these begin is in a namespace of that name, not in `torch`."""

_NOT_BOUND = frozenset(
    "unique_dim unique_dim_consecutive native_dropout_backward _to_copy _linalg_eigvals _batch_norm_with_update "
    "_batch_norm_no_update _unsafe_view _reshape_alias".split()
)
"""Functions that programs reach through `torch.ops` alone."""


def bind_functions(namespace: dict[str, Any]) -> list[str]:
    """Put every op that exists as a function into `namespace` and return the names."""
    offered = [name for name, packet in packets.items() if packet.offers("function") and "::" not in name]
    names = [name for name in offered if not name.startswith(_SPACES) and name not in _NOT_BOUND]
    names = [name for name in names if not (name.endswith("_") and not name.startswith("_"))]
    names += [name for name in INPLACE_FUNCTIONS if find_packet(name) is not None]
    for name in names:
        namespace.setdefault(name, function_of(name))
    namespace.setdefault("_segment_reduce", namespace["segment_reduce"])  # its name while it was private
    return names


def bind_nn_functions(namespace: dict[str, Any]) -> list[str]:
    """Put every op of `torch._C._nn` into `namespace` and return the names."""
    names = [name for name, packet in packets.items() if packet.offers("nn")]
    for name in names:
        _bind_nn(namespace, name)
        if any(row.inplace for row in packets[name].rows):
            _bind_nn(namespace, f"{name}_")
    return names


def _bind_nn(namespace: dict[str, Any], name: str) -> None:
    function = function_of(name)
    if function is None:
        raise KeyError(name)
    function.__module__ = "torch._C._nn"  # where pickles look for it
    namespace.setdefault(name, function)
