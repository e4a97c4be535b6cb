"""Image ops: they take a batch of images themselves, so the two batches become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...batching.geometry import batched, example_shape, folded, is_tensor, rank, unfolded
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from .table import rule

_SIZES = ("input_size", "size")
"""Arguments that give the size of a folded tensor."""


def folding(spatial: int, *, sized: bool = False, shared: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Return the rule of an op on (N, C, ...) or (C, ...) with `spatial` dimensions after C.

    `sized`: an argument called `input_size` or `size` counts images and is folded too. `shared`: arguments that are no
    images and have no batch.
    """

    def fold(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
        names = [argument.name for argument in row.schema.arguments]
        first = next(place for place, value in enumerate(values) if is_tensor(value) and names[place] not in shared)
        double = rank(values[first], dims[first]) == spatial + 2
        made = []
        for name, value, dim in zip(names, values, dims, strict=True):
            if is_tensor(value) and name not in shared:
                one = batched(value, dim, batch.size)
                made.append(folded(one) if double else one)
            elif sized and name in _SIZES:
                made.append([batch.size * value[0], *value[1:]] if double else [batch.size, *value])
            else:
                made.append(value)
        result = invoke(row, made)
        if not double:
            return result, [0] * len(result) if isinstance(result, (tuple, list)) else 0
        if isinstance(result, (tuple, list)):
            # A backward leaves out the gradients that nobody asked for.
            return [one if one is None else unfolded(one, batch.size) for one in result], [
                None if one is None else 0 for one in result
            ]
        return unfolded(result, batch.size), 0

    fold.__doc__ = f"Ops on images with {spatial} dimensions."
    return fold


for _spatial in (1, 2, 3):
    rule(*[f"{name}_pad{_spatial}d{suffix}" for name in ("reflection", "replication") for suffix in ("", "_backward")])(
        folding(_spatial)
    )
    rule(f"upsample_nearest{_spatial}d", f"_upsample_nearest_exact{_spatial}d")(folding(_spatial))
    rule(f"upsample_nearest{_spatial}d_backward", f"_upsample_nearest_exact{_spatial}d_backward")(
        folding(_spatial, sized=True)
    )
for _spatial in (2, 3):
    rule(
        f"_adaptive_avg_pool{_spatial}d", f"_adaptive_avg_pool{_spatial}d_backward", f"adaptive_max_pool{_spatial}d",
        f"adaptive_max_pool{_spatial}d_backward", f"max_unpool{_spatial}d", f"max_pool{_spatial}d_with_indices",
        f"max_pool{_spatial}d_with_indices_backward", f"avg_pool{_spatial}d", f"avg_pool{_spatial}d_backward",
        f"grid_sampler_{_spatial}d", f"grid_sampler_{_spatial}d_backward",
    )(folding(_spatial))  # fmt: skip
for _name, _spatial in {
    "upsample_linear1d": 1, "upsample_bilinear2d": 2, "upsample_trilinear3d": 3, "upsample_bicubic2d": 2,
    "_upsample_bilinear2d_aa": 2, "_upsample_bicubic2d_aa": 2, "_upsample_lanczos2d_aa": 2,
}.items():  # fmt: skip
    rule(_name)(folding(_spatial))
    rule(f"{_name}_backward")(folding(_spatial, sized=True))
rule("im2col", "channel_shuffle", "native_channel_shuffle")(folding(2))
rule("col2im")(folding(1))


@rule("constant_pad_nd")
def constant_pad(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`constant_pad_nd`, which counts dimensions from the last."""
    return invoke(row, [batched(values[0], dims[0], batch.size), *values[1:]]), 0


@rule("affine_grid_generator", "affine_grid_generator_backward")
def affine_grid(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`affine_grid`: a grid for every image."""
    size = list(values[1])
    size[0] *= batch.size
    made = invoke(row, [folded(batched(values[0], dims[0], batch.size)), size, *values[2:]])
    return unfolded(made, batch.size), 0


def masked_attention(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Attention with a mask of its own for every example."""
    names = [argument.name for argument in row.schema.arguments]
    at = names.index("attn_mask")
    made, places = list(values), list(dims)
    mask = values[at]
    if mask is not None and dims[at] is not None:
        ndim = rank(mask, dims[at])
        mask = batched(mask, dims[at], batch.size)
        for _ in range(4 - ndim):
            mask = aten.unsqueeze(mask, 1)
        heads = example_shape(values[names.index("query")], dims[names.index("query")])[0]
        mask = aten.expand(mask, [batch.size, heads, *mask.shape[2:]])
        made[at], places[at] = folded(mask), None
    elif mask is not None and rank(mask, None) == 4 and mask.shape[0] > 1:
        made[at] = aten.repeat(mask, [batch.size, 1, 1, 1])
    return folding(2, shared=("attn_mask",))(row, batch, made, places)


rule("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward")(
    masked_attention
)
