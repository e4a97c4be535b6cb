"""Meta rules of sampling at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.spec import Spec

from .checks import check, shape_text
from .memory_format import suggested
from .rule import MetaRule, meta_rule
from .support import require_floating

BICUBIC = 2


def _check_grid(input: Spec, grid: Spec) -> None:
    check(
        input.shape[0] == grid.shape[0],
        lambda: (
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{shape_text(input.shape)} and grid with sizes {shape_text(grid.shape)}"
        ),
    )
    check(
        grid.shape[-1] == input.ndim - 2,
        lambda: (
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid with sizes "
            f"{shape_text(grid.shape)}"
        ),
    )
    for dim in range(2, input.ndim):
        check(
            input.shape[dim] > 0,
            lambda dim=dim: (
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{shape_text(input.shape)} with dimension {dim} being empty"
            ),
        )


def check_sample(input: Spec, grid: Spec, dims: int, mode: int) -> None:
    """Raise torch's errors for inputs that do not fit."""
    _check_grid(input, grid)
    check(
        input.ndim == dims + 2 and input.ndim == grid.ndim,
        lambda: (
            f"grid_sampler(): expected {dims + 2}D input and grid with same number of dimensions, but got input with "
            f"sizes {shape_text(input.shape)} and grid with sizes {shape_text(grid.shape)}"
        ),
    )
    check(mode in (0, 1, 2), lambda: f"grid_sampler(): expected interpolation mode to be 0, 1 or 2, but got {mode}")
    check(
        not (input.ndim == 5 and mode == BICUBIC),
        lambda: "grid_sampler(): bicubic interpolation only supports 4D input",
    )


def sample(dims: int) -> MetaRule:
    """Return the rule of `grid_sampler_{dims}d`."""
    kernel = {2: "grid_sampler_2d_cpu_kernel_impl", 3: "grid_sampler3d_cpu"}[dims]

    def rule(input: Spec, grid: Spec, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Spec:
        check_sample(input, grid, dims, interpolation_mode)
        require_floating(input, kernel)
        check(
            input.dtype is grid.dtype,
            lambda: f"expected scalar type {input.dtype.scalar_name} but found {grid.dtype.scalar_name}",
        )
        return Spec.of(input.dtype, input.device, (*input.shape[:2], *grid.shape[1:-1]))

    return MetaRule(rule)


@meta_rule()
def sample_backward(
    grad_output: Spec,
    input: Spec,
    grid: Spec,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Spec | None, Spec | None]:
    """The gradients of input and grid."""
    return suggested(input) if output_mask[0] else None, grid.contiguous() if output_mask[1] else None


@meta_rule()
def affine_grid(theta: Spec, size: Sequence[int], align_corners: bool) -> Spec:
    """`affine_grid_generator`."""
    check(len(size) in (4, 5), lambda: "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    dims = len(size) - 2
    check(
        theta.ndim == 3 and tuple(theta.shape[::2]) == (size[0], dims + 1),
        lambda: (
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {dims + 1}] but got: "
            f"[{theta.shape[0]}, {theta.shape[2]}]."
        ),
    )
    return Spec.of(theta.dtype, theta.device, (size[0], *size[2:], dims))


@meta_rule()
def affine_grid_backward(grad: Spec, size: Sequence[int], align_corners: bool) -> Spec:
    """`affine_grid_generator_backward`."""
    check(len(size) in (4, 5), lambda: "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    expected = (size[0], *size[2:], len(size) - 2)
    check(
        grad.shape == expected,
        lambda: (
            f"expected the gradient of a grid to have size {shape_text(expected)}, but got {shape_text(grad.shape)}"
        ),
    )
    dims = len(size) - 2
    return Spec.of(grad.dtype, grad.device, (size[0], dims, dims + 1), (dims * (dims + 1), 1, dims))
