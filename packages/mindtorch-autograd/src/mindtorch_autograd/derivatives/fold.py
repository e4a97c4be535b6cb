"""Sliding blocks as columns, and columns summed back: each is the other's gradient."""

from __future__ import annotations

from mindtorch_dispatch.call import aten

from ..derivative import derivative

derivative(
    "im2col",
    self=lambda grad, self_spec, kernel_size, dilation, padding, stride: aten.col2im(
        grad, list(self_spec.shape[-2:]), kernel_size, dilation, padding, stride
    ),
)
derivative(
    "col2im",
    self=lambda grad, kernel_size, dilation, padding, stride: aten.im2col(grad, kernel_size, dilation, padding, stride),
)
