"""`torch_npu.Format`: how a tensor may lie in the chip's memory. Elements lie as strides say, so a format is kept advice."""

from __future__ import annotations

from enum import IntEnum

import mindtorch as torch
from mindtorch.tensor.tensor import Tensor

__all__ = ["Format"]


class Format(IntEnum):
    """The vendor's formats by number."""

    UNDEFINED = -1
    NCHW = 0
    NHWC = 1
    ND = 2
    NC1HWC0 = 3
    FRACTAL_Z = 4
    NC1HWC0_C04 = 12
    HWCN = 16
    NDHWC = 27
    FRACTAL_NZ = 29
    NCDHW = 30
    NDC1HWC0 = 32
    FRACTAL_Z_3D = 33
    NC = 35
    NCL = 47
    FRACTAL_NZ_C0_16 = 50
    FRACTAL_NZ_C0_32 = 51
    FRACTAL_NZ_C0_2 = 52
    FRACTAL_NZ_C0_4 = 53
    FRACTAL_NZ_C0_8 = 54

    def __str__(self) -> str:
        return self.name


_PLAIN = {
    Format.UNDEFINED, Format.NCHW, Format.NHWC, Format.ND, Format.HWCN, Format.NDHWC, Format.NCDHW, Format.NC, Format.NCL,
}  # fmt: skip
"""Those without the chip's own order, which need no leave."""


def wanted(acl_format: int) -> Format | None:
    """Return the format of a number, None where it is the chip's own and `config.allow_internal_format` forbids those.

    Raises ValueError for a number of no format.
    """
    try:
        found = Format(acl_format)
    except ValueError:
        raise ValueError(f"there is no format {acl_format}") from None
    return found if found in _PLAIN or torch.npu.config.allow_internal_format else None


def keep(tensor: Tensor, format: Format | None) -> Tensor:
    """Let a tensor, and copies of it, tell this format; None changes nothing. Returns the tensor."""
    if format is not None:
        tensor._npu_format = int(format)  # type: ignore[attr-defined]
    return tensor


def format_of(tensor: Tensor) -> Format:
    """Return what a tensor was cast to, or the plain format of its rank."""
    told = getattr(tensor, "_npu_format", None)
    return Format({4: 0, 5: 30}.get(tensor.dim(), Format.ND) if told is None else told)
