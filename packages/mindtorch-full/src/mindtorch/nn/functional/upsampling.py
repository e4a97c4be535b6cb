"""Resizing of images."""

import math
import warnings
from typing import Any

import mindtorch as torch
from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten
from mindtorch_dispatch.frames import frames_up

_INTERPOLATING = ("linear", "bilinear", "bicubic", "trilinear", "lanczos")
_ANTIALIASED = ("bilinear", "bicubic", "lanczos")
_NEEDS_DIM = {"linear": 3, "bilinear": 4, "trilinear": 5}


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize (N, C, [D], [H], W) to ``size`` or by ``scale_factor``.

    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    if mode in _INTERPOLATING:
        if align_corners is None:
            align_corners = False
    elif align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    output_size, scale_factors = _target(input, size, scale_factor)
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        output_size = [math.floor(float(input.size(i + 2)) * factor) for i, factor in enumerate(scale_factors)]
        scale_factors = None
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if antialias and not (mode in _ANTIALIASED and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    op = _op(input.dim(), mode, antialias)
    if mode == "area":
        return op(input, _area_size(input, output_size, scale_factors))
    if mode in ("nearest", "nearest-exact"):
        return op(input, output_size, scale_factors)
    return op(input, output_size, align_corners, scale_factors)


def _target(input: Tensor, size: Any, scale_factor: Any) -> tuple[list[int] | None, list[float] | None]:
    """Return the output size, or the factors, one per spatial dimension."""
    dim = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        return _size_target(input, size, dim), None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (list, tuple)):
        return None, [scale_factor] * dim
    if len(scale_factor) != dim:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please provide input "
            "tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    return None, list(scale_factor)


def _size_target(input: Tensor, size: Any, dim: int) -> list[int]:
    if not isinstance(size, (list, tuple)):
        return [size] * dim
    if len(size) != dim:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(input.shape[2:])} and output size of {size}. Please provide input tensor in (N, C, d1, d2, "
            "...,dK) format and output size in (o1, o2, ...,oK) format."
        )
    if not all(hasattr(extent, "__index__") for extent in size):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
            f"with types {[type(extent) for extent in size]}"
        )
    return list(size)


def _area_size(input: Tensor, output_size: Any, scale_factors: Any) -> list[int]:
    if output_size is not None:
        return output_size
    return [math.floor(float(input.size(i + 2)) * factor) for i, factor in enumerate(scale_factors)]


def _op(dim: int, mode: str, antialias: bool) -> Any:
    """Return the op of ``mode`` for inputs of ``dim`` dimensions."""
    if antialias:
        return getattr(aten, f"_upsample_{mode}2d_aa")
    if dim in (3, 4, 5):
        spatial = dim - 2
        if mode == "nearest":
            return getattr(aten, f"upsample_nearest{spatial}d")
        if mode == "nearest-exact":
            return getattr(aten, f"_upsample_nearest_exact{spatial}d")
        if mode == "area":
            return getattr(aten, f"adaptive_avg_pool{spatial}d")
        needed = _NEEDS_DIM.get(mode)
        if needed == dim:
            return getattr(aten, f"upsample_{mode}{spatial}d")
        if needed is not None:
            raise NotImplementedError(f"Got {dim}D input, but {mode} mode needs {needed}D input")
        if mode == "bicubic" and dim == 4:
            return aten.upsample_bicubic2d
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dim}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The former name of :func:`interpolate`.

    >>> torch.nn.functional.upsample(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=frames_up(2)
    )
    return torch.nn.functional.interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of :func:`interpolate` with nearest neighbours.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.functional.upsample_nearest(torch.tensor([[[[0.0, 1.0]]]]), size=(1, 4))
    tensor([[[[0., 0., 1., 1.]]]])
    """
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=frames_up(2),
    )
    return torch.nn.functional.interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of bilinear :func:`interpolate` with aligned corners.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.functional.upsample_bilinear(torch.tensor([[[[0.0, 1.0]]]]), size=(1, 3))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=frames_up(2),
    )
    return torch.nn.functional.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
