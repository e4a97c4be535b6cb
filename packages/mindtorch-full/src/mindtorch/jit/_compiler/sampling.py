"""Resizing and bags of embeddings of `torch.nn.functional`, in what this compiler compiles."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Annotated, TypeAlias

import mindtorch as torch
from mindtorch import Tensor

if TYPE_CHECKING:
    Sizes: TypeAlias = int | list[int]
    Factors: TypeAlias = float | list[float]
else:
    Sizes, Factors = Annotated[list[int], 1], Annotated[list[float], 1]
"""Lists of one number for each dimension; one number stands for all of them."""


def _output_size(input: Tensor, size: list[int]) -> list[int]:
    dims = input.dim() - 2
    if len(size) == 1:
        return size * dims
    if len(size) != dims:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{input.size()[2:]} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "output size in (o1, o2, ...,oK) format."
        )
    return size


def _scale_factors(input: Tensor, factors: list[float]) -> list[float]:
    dims = input.dim() - 2
    if len(factors) == 1:
        return factors * dims
    if len(factors) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{input.size()[2:]} and scale_factor of shape {factors}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            "format and scale_factor in (s1, s2, ...,sK) format."
        )
    return factors


def _scaled(input: Tensor, factors: list[float]) -> list[int]:
    size: list[int] = []
    for i in range(len(factors)):
        size.append(math.floor(float(input.size(i + 2)) * factors[i]))
    return size


def _nearest(input: Tensor, size: list[int] | None, factors: list[float] | None) -> Tensor:
    if input.dim() == 3:
        return torch._C._nn.upsample_nearest1d(input, size, factors)
    elif input.dim() == 4:
        return torch._C._nn.upsample_nearest2d(input, size, factors)
    else:
        return torch._C._nn.upsample_nearest3d(input, size, factors)


def _nearest_exact(input: Tensor, size: list[int] | None, factors: list[float] | None) -> Tensor:
    if input.dim() == 3:
        return torch._C._nn._upsample_nearest_exact1d(input, size, factors)
    elif input.dim() == 4:
        return torch._C._nn._upsample_nearest_exact2d(input, size, factors)
    else:
        return torch._C._nn._upsample_nearest_exact3d(input, size, factors)


def _area(input: Tensor, size: list[int]) -> Tensor:
    if input.dim() == 3:
        return torch.adaptive_avg_pool1d(input, size)
    elif input.dim() == 4:
        return torch._C._nn.adaptive_avg_pool2d(input, size)
    else:
        return torch._C._nn.adaptive_avg_pool3d(input, size)


def _interpolated(
    input: Tensor, mode: str, size: list[int] | None, corners: bool, factors: list[float] | None, antialias: bool
) -> Tensor:
    dims = input.dim()
    if mode == "linear" and dims == 3:
        return torch._C._nn.upsample_linear1d(input, size, corners, factors)
    elif mode == "bilinear" and dims == 4:
        if antialias:
            return torch._C._nn._upsample_bilinear2d_aa(input, size, corners, factors)
        else:
            return torch._C._nn.upsample_bilinear2d(input, size, corners, factors)
    elif mode == "trilinear" and dims == 5:
        return torch._C._nn.upsample_trilinear3d(input, size, corners, factors)
    elif mode == "bicubic" and dims == 4:
        if antialias:
            return torch._C._nn._upsample_bicubic2d_aa(input, size, corners, factors)
        else:
            return torch._C._nn.upsample_bicubic2d(input, size, corners, factors)
    elif mode == "linear":
        raise NotImplementedError(f"Got {dims}D input, but linear mode needs 3D input")
    elif mode == "bilinear":
        raise NotImplementedError(f"Got {dims}D input, but bilinear mode needs 4D input")
    elif mode == "trilinear":
        raise NotImplementedError(f"Got {dims}D input, but trilinear mode needs 5D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes: nearest | linear | bilinear | "
        f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: Factors | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Images of another size."""
    without_corners = mode in ["nearest", "area", "nearest-exact"]
    if without_corners and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    corners = False
    if align_corners is not None:
        corners = align_corners
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    output_size: list[int] | None = None
    factors: list[float] | None = None
    if size is not None:
        output_size = _output_size(input, size)  # type: ignore[arg-type]
    elif scale_factor is not None:
        factors = _scale_factors(input, scale_factor)  # type: ignore[arg-type]
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor is not None and recompute_scale_factor:
        if factors is None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        output_size = _scaled(input, factors)
        factors = None
    if antialias and not (mode in ["bilinear", "bicubic"] and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if without_corners:
        if input.dim() < 3 or input.dim() > 5:
            raise NotImplementedError(
                f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear "
                f"| bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
            )
        if mode == "nearest":
            return _nearest(input, output_size, factors)
        elif mode == "nearest-exact":
            return _nearest_exact(input, output_size, factors)
        else:
            if factors is not None:
                output_size = _scaled(input, factors)
            assert output_size is not None
            return _area(input, output_size)
    return _interpolated(input, mode, output_size, corners, factors, antialias)


def _bag_mode(mode: str, scale_grad_by_freq: bool, sparse: bool) -> int:
    if mode == "sum":
        mode_enum = 0
    elif mode == "mean":
        mode_enum = 1
    elif mode == "max":
        mode_enum = 2
        if scale_grad_by_freq:
            raise ValueError("max mode does not support scaling the gradient by the frequency")
        if sparse:
            raise ValueError("max mode does not support sparse weights")
    else:
        raise ValueError("mode has to be one of sum, mean or max")
    return mode_enum


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of rows."""
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.size()}) is not None, then it must have the same shape "
            f"as the input ({input.size()})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                             "sequences. However, found offsets of type <unknown>")  # fmt: skip
        starts = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        include_last_offset = False
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    mode_enum = _bag_mode(mode, scale_grad_by_freq, sparse)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    ret, _, _, _ = torch.embedding_bag(
        weight,
        input,
        starts,
        scale_grad_by_freq,
        mode_enum,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    return ret


DEFINED = {name: one for name, one in dict(globals()).items() if inspect.isfunction(one)}
"""The definitions by the names of the functions."""
for _one in DEFINED.values():
    _one.__module__ = "torch.nn.functional"
