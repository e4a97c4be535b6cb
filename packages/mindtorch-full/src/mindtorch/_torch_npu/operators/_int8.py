"""Integers of eight bits in the place of numbers."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import refuse
from mindtorch.tensor.tensor import Tensor

INT8 = (None, torch.int8, 1, 2)
"""How arguments name integers of eight bits: by default, as torch's dtype, and by numbers of the vendor's and of torch_npu's."""


def to_int8(x: Tensor) -> Tensor:
    """Return numbers rounded to the nearest integer of eight bits."""
    return torch.round(x).clamp(-128, 127).to(torch.int8)


def only_int8(name: str, dtype: object) -> None:
    """Raise NotImplementedError unless results are asked for in eight bits."""
    if dtype not in INT8:
        raise NotImplementedError(f"torch_npu.{name}: only torch.int8 is supported, but got {dtype}")


def only_nearest(name: str, dtype: object, round_mode: str) -> None:
    """Raise NotImplementedError unless results are asked for in eight bits, rounded to the nearest."""
    if dtype not in INT8 or round_mode != "rint":
        refuse(name, f"dst_type {dtype} with round_mode {round_mode}")


def only_int8_operands(name: str, *operands: Tensor) -> None:
    """Raise NotImplementedError for operands of other integers or numbers."""
    for one in operands:
        if one.dtype != torch.int8:
            raise NotImplementedError(f"torch_npu.{name}: only torch.int8 is supported, but got {one.dtype}")


def by_row(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows in eight bits and each one's scale, by its largest value: 0 for a row of zeros."""
    scale = x.abs().amax(-1) / 127.0
    return to_int8(x / torch.where(scale == 0, 1.0, scale).unsqueeze(-1)), scale
