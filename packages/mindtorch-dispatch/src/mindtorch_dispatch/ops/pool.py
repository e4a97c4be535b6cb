"""Pooling over windows."""

from ..decomp import pool as composed
from ..meta import pool as rules
from ..table import CORE, op

op(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
    "bool ceil_mode=False) -> Tensor",
    composite=composed.max_pool1d,
    variants="function",
)
op(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor)",
    composite=composed.max_pool1d_with_indices,
    variants="function",
)
op(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor",
    composite=composed.avg_pool1d,
    variants="function",
)
for _n in (2, 3):
    _window = f"int[{_n}] kernel_size, int[{_n}] stride=[], int[{_n}] padding=0"
    _given = f"int[{_n}] kernel_size, int[{_n}] stride, int[{_n}] padding"
    op(
        f"max_pool{_n}d(Tensor self, {_window}, int[{_n}] dilation=1, bool ceil_mode=False) -> Tensor",
        composite=composed.max_pool(_n),
        variants="function",
    )
    op(
        f"max_pool{_n}d_with_indices(Tensor self, {_window}, int[{_n}] dilation=1, bool ceil_mode=False) "
        "-> (Tensor, Tensor)",
        rules.max_pool(_n),
        variants="nn",
        tags={CORE},
    )
    op(
        f"max_pool{_n}d_with_indices_backward(Tensor grad_output, Tensor self, {_given}, int[{_n}] dilation, "
        "bool ceil_mode, Tensor indices) -> Tensor",
        rules.max_pool_backward(_n),
        variants="",
        tags={CORE},
    )
    _average = "bool count_include_pad=True, int? divisor_override=None"
    op(
        f"avg_pool{_n}d(Tensor self, {_window}, bool ceil_mode=False, {_average}) -> Tensor",
        rules.avg_pool(_n),
        variants="nn",
        tags={CORE},
    )
    op(
        f"avg_pool{_n}d_backward(Tensor grad_output, Tensor self, {_given}, bool ceil_mode, bool count_include_pad, "
        "int? divisor_override) -> Tensor",
        rules.avg_pool_backward(_n),
        variants="",
        tags={CORE},
    )
