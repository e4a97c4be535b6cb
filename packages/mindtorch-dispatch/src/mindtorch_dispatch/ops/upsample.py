"""Resizing."""

from ..decomp.upsample import by_size_or_factors
from ..meta.upsample import resize, resize_backward
from ..table import op

_SCALES = {
    1: "float? scales=None",
    2: "float? scales_h=None, float? scales_w=None",
    3: "float? scales_d=None, float? scales_h=None, float? scales_w=None",
}
_LINEAR = "compute_indices_weights_linear"
_NEAREST = "compute_indices_weights_nearest"

RESIZES = {
    "upsample_nearest1d": (1, _NEAREST, True),
    "upsample_nearest2d": (2, "upsample_nearest2d_channels_last", True),
    "upsample_nearest3d": (3, _NEAREST, True),
    "_upsample_nearest_exact1d": (1, _NEAREST, True),
    "_upsample_nearest_exact2d": (2, "upsample_nearest2d_channels_last", True),
    "_upsample_nearest_exact3d": (3, _NEAREST, True),
    "upsample_linear1d": (1, _LINEAR, False),
    "upsample_bilinear2d": (2, "upsample_bilinear2d_channels_last", True),
    "upsample_trilinear3d": (3, _LINEAR, False),
    "upsample_bicubic2d": (2, "compute_indices_weights_cubic", True),
    "_upsample_bilinear2d_aa": (2, "compute_index_ranges_weights", True),
    "_upsample_bicubic2d_aa": (2, "compute_index_ranges_weights", True),
    "_upsample_lanczos2d_aa": (2, "compute_index_ranges_weights", True),
}
"""Name to spatial dimensions, the kernel name in torch's dtype error, whether uint8 is taken."""

for _name, (_dims, _kernel, _bytes) in RESIZES.items():
    _corners = "" if "nearest" in _name else "bool align_corners, "
    op(
        f"{_name}(Tensor self, SymInt[{_dims}] output_size, {_corners}{_SCALES[_dims]}) -> Tensor",
        resize(_dims, _kernel, bytes_ok=_bytes),
        variants="nn",
    )
    op(
        f"{_name}.vec(Tensor input, SymInt[]? output_size, {_corners}float[]? scale_factors) -> Tensor",
        composite=by_size_or_factors(_name, _dims),
        variants="nn",
    )
    op(
        f"{_name}_backward(Tensor grad_output, SymInt[{_dims}] output_size, SymInt[{_dims + 2}] input_size, "
        f"{_corners}{_SCALES[_dims]}) -> Tensor",
        resize_backward(_dims),
        variants="",
    )
