"""Convolutions."""

from ..decomp import conv as composed
from ..meta import conv as rules
from ..table import CORE, op

_HEAD = "Tensor input, Tensor weight, Tensor? bias"
_FULL = (
    f"{_HEAD}, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups"
)

op(f"convolution({_FULL}) -> Tensor", rules.convolution, variants="function", tags={CORE})
op(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) "
    "-> (Tensor, Tensor, Tensor)",
    rules.convolution_backward,
    variants="",
    tags={CORE},
)
op(
    f"_convolution({_FULL}, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
    composite=composed.convolution_flagged,
    variants="function",
)
op(
    f"_convolution_mode({_HEAD}, SymInt[] stride, str padding, SymInt[] dilation, SymInt groups) -> Tensor",
    composite=composed.convolution_mode,
    variants="function",
)
for _n in (1, 2, 3):
    op(
        f"conv{_n}d({_HEAD}=None, SymInt[{_n}] stride=1, SymInt[{_n}] padding=0, SymInt[{_n}] dilation=1, "
        "SymInt groups=1) -> Tensor",
        composite=composed.forward(_n),
        variants="function",
    )
    op(
        f'conv{_n}d.padding({_HEAD}=None, SymInt[{_n}] stride=1, str padding="valid", SymInt[{_n}] dilation=1, '
        "SymInt groups=1) -> Tensor",
        composite=composed.forward_named(_n),
        variants="function",
    )
    op(
        f"conv_transpose{_n}d{'' if _n == 1 else '.input'}({_HEAD}=None, SymInt[{_n}] stride=1, SymInt[{_n}] padding=0, "
        f"SymInt[{_n}] output_padding=0, SymInt groups=1, SymInt[{_n}] dilation=1) -> Tensor",
        composite=composed.transposed(_n),
        variants="function",
    )
op(
    "thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1, "
    "SymInt[2] padding=0) -> Tensor",
    composite=composed.thnn_conv2d,
    variants="nn",
    out=True,
)
op("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", rules.conv_tbc, variants="function")
op(
    "conv_tbc_backward(Tensor self, Tensor input, Tensor weight, Tensor bias, int pad) -> (Tensor, Tensor, Tensor)",
    composite=composed.conv_tbc_backward,
    variants="",
)
