"""Sampling at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.typing import Tensor

from ..backward import grad as reverse_grad
from ..derivative import derivative, joint
from ..views import leaf_over
from .grid_composed import sample


def _sample(dims: int) -> Any:
    @joint("input", "grid")
    def formula(
        grad: Tensor,
        needs: Sequence[bool],
        input: Tensor,
        grid: Tensor,
        interpolation_mode: int,
        padding_mode: int,
        align_corners: bool,
    ) -> Any:
        backward = getattr(aten, f"grid_sampler_{dims}d_backward")
        return backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, list(needs))

    return formula


@joint("grad_output", "input", "grid")
def sample_twice(
    grads: Sequence[Tensor],
    needs: Sequence[bool],
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """Gradients of a sampler's backward: of the sampler composed of differentiable ops, differentiated twice."""
    recording = state.mode.grad
    with mode_set(grad=True):
        given = [_stand_in(one, recording) for one in (grad_output, input, grid)]
        output = sample(given[1], given[2], interpolation_mode, padding_mode, align_corners)
        first = reverse_grad([output], given[1:], [given[0]], create_graph=True, allow_unused=True)
        pairs = [
            (one, cotangent)
            for one, cotangent in zip(first, grads, strict=True)
            if one is not None and one.requires_grad and cotangent is not None
        ]
        wanted = [one for one, needed in zip(given, needs, strict=True) if needed]
        if not pairs:
            return None, None, None
        found = iter(
            reverse_grad(
                [one for one, _ in pairs], wanted, [cotangent for _, cotangent in pairs],
                create_graph=recording, allow_unused=True,
            )
        )  # fmt: skip
    answers = [next(found) if needed else None for needed in needs]
    if needs[2] and answers[2] is None:
        answers[2] = aten.zeros_like(grid)  # torch's kernel always makes it, as for the nearest neighbour
    return tuple(answers)


def _stand_in(tensor: Tensor, recording: bool) -> Any:
    """Return what gradients can be taken of: a view of the tensor where its history matters, else a leaf."""
    if recording and tensor.requires_grad:
        return aten.alias(tensor)
    return leaf_over(tensor)


derivative("grid_sampler_2d", _sample(2))
derivative("grid_sampler_3d", _sample(3))
derivative("grid_sampler_2d_backward", sample_twice, node="GridSampler2DBackwardBackward0")
derivative("grid_sampler_3d_backward", sample_twice, node="GridSampler3DBackwardBackward0")
derivative(
    "affine_grid_generator",
    theta=lambda grad, size, align_corners: aten.affine_grid_generator_backward(grad, size, align_corners),
)
derivative(
    "affine_grid_generator_backward",
    grad=lambda grad, size, align_corners: aten.affine_grid_generator(grad, size, align_corners),
)
