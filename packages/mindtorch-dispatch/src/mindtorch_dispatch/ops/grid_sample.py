"""Sampling at the points of a grid."""

from ..decomp import grid_sample as composed
from ..decomp.alias import alias_of
from ..meta import grid_sample as rules
from ..table import op

_HOW = "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners"

op(f"grid_sampler({_HOW}) -> Tensor", composite=composed.grid_sampler, variants="function")
for _n in (2, 3):
    op(f"grid_sampler_{_n}d({_HOW}) -> Tensor", rules.sample(_n), variants="function")
    op(
        f"grid_sampler_{_n}d_backward(Tensor grad_output, {_HOW}, bool[2] output_mask) -> (Tensor, Tensor)",
        rules.sample_backward,
        variants="",
    )
op(
    f"_grid_sampler_2d_cpu_fallback({_HOW}) -> Tensor",
    composite=alias_of("grid_sampler_2d"),
    variants="function",
)
op(
    "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    rules.affine_grid,
    variants="function",
)
op(
    "affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor",
    rules.affine_grid_backward,
    variants="",
)
