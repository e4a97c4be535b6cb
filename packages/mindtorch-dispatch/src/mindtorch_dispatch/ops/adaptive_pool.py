"""Pooling to a given size, fractional pooling, unpooling."""

from ..decomp import adaptive_pool as composed
from ..meta import adaptive_pool as rules
from ..table import op

op(
    "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
    composite=composed.average1d,
    variants="function",
    out=True,
)
op(
    "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
    composite=composed.largest1d,
    variants="function",
)
for _n in (2, 3):
    op(
        f"adaptive_avg_pool{_n}d(Tensor self, SymInt[{_n}] output_size) -> Tensor",
        composite=composed.average(_n),
        variants="nn",
        out=True,
    )
    op(
        f"_adaptive_avg_pool{_n}d(Tensor self, SymInt[{_n}] output_size) -> Tensor",
        rules.average(_n),
        variants="function",
    )
    op(
        f"_adaptive_avg_pool{_n}d_backward(Tensor grad_output, Tensor self) -> Tensor",
        rules.average_backward(_n),
        variants="",
    )
    op(
        f"adaptive_max_pool{_n}d(Tensor self, int[{_n}] output_size) -> (Tensor, Tensor)",
        rules.largest(_n),
        variants="nn",
    )
    op(
        f"adaptive_max_pool{_n}d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
        rules.largest_backward(_n),
        variants="",
    )
    _sizes = f"int[{_n}] kernel_size, int[{_n}] output_size"
    op(
        f"fractional_max_pool{_n}d(Tensor self, {_sizes}, Tensor random_samples) -> (Tensor, Tensor)",
        rules.fractional(_n),
        variants="nn",
    )
    op(
        f"fractional_max_pool{_n}d_backward(Tensor grad_output, Tensor self, {_sizes}, Tensor indices) -> Tensor",
        rules.fractional_backward(_n),
        variants="",
    )
op("max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", rules.unpool(2), variants="nn")
op(
    "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
    rules.unpool(3),
    variants="nn",
)
