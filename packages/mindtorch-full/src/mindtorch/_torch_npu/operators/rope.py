"""Positions that are turned into heads, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.tensor.tensor import Tensor

__all__ = ["npu_apply_rotary_pos_emb", "npu_interleave_rope", "npu_mrope"]


@operator(
    "npu_rotary_mul.rotate(Tensor self, Tensor r1, Tensor r2, str rotary_mode='half', *, Tensor? rotate) -> Tensor"
)
def _by_matrix(self: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str = "half", *, rotate: Tensor | None) -> Tensor:
    if rotate is None:
        return torch.ops.npu.npu_rotary_mul(self, r1, r2, rotary_mode)
    return self * r1 + torch.matmul(self, rotate) * r2


@operator(
    "npu_apply_rotary_pos_emb(Tensor query, Tensor key, Tensor cos, Tensor sin, str layout='BSND', "
    "str rotary_mode='half') -> (Tensor, Tensor)"
)
def npu_apply_rotary_pos_emb(
    query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, layout: str = "BSND", rotary_mode: str = "half"
) -> tuple[Tensor, Tensor]:
    """Return query and key with positions turned into them. The layout is BSND, whose heads the cosines have one of."""
    if layout not in ("BSH", "BSND", "TND", "1"):
        raise ValueError(f"layout must be 'BSH', 'BSND' or 'TND', but got {layout!r}")
    turn = torch.ops.npu.npu_rotary_mul
    return turn(query, cos, sin, rotary_mode), turn(key, cos, sin, rotary_mode)


@operator("npu_interleave_rope(Tensor x, Tensor cos, Tensor sin) -> Tensor")
def npu_interleave_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return heads whose pairs lie side by side, pairs taken apart into halves first, then turned."""
    apart = torch.cat((x[..., ::2], x[..., 1::2]), -1)
    return torch.ops.npu.npu_rotary_mul(apart, cos, sin)


def rotated_pairs(heads: Tensor, cos: Tensor, sin: Tensor, *, halves: bool) -> Tensor:
    """Return heads whose pairs of numbers are turned; a pair lies in both halves of a head, or side by side."""
    first, second = heads.chunk(2, -1) if halves else (heads[..., ::2], heads[..., 1::2])
    turned = first * cos - second * sin, second * cos + first * sin
    return torch.cat(turned, -1) if halves else torch.stack(turned, -1).flatten(-2)


def _of_sections(parts: Tensor, sections: Sequence[int], mode: str) -> Tensor:
    """Return for every token cosines of time, height and width, joined section by section or one after the other."""
    if mode == "default":
        ends = [sum(sections[: place + 1]) for place in range(3)]
        return torch.cat([parts[place, :, end - sections[place] : end] for place, end in enumerate(ends)], -1)
    made = parts[0].clone()
    for place in (1, 2):
        made[:, place : sections[1] * 3 : 3] = parts[place, :, place : sections[1] * 3 : 3]
    return made


@operator(
    "npu_mrope(Tensor positions, Tensor query, Tensor key, Tensor cos_sin_cache, int head_size, *, "
    "int[]? mrope_section=None, str? rotary_mode='half', str? cache_mode='default') -> (Tensor, Tensor)"
)
def npu_mrope(
    positions: Tensor, query: Tensor, key: Tensor, cos_sin_cache: Tensor, head_size: int, *,
    mrope_section: Sequence[int] | None = None, rotary_mode: str | None = "half", cache_mode: str | None = "default",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return query and key with positions turned into them, positions in time, height and width where there are three."""
    if cache_mode not in ("default", "interleave"):
        raise RuntimeError(f"cache_mode should be 'default' or 'interleave', but got {cache_mode!r}")
    width = cos_sin_cache.shape[-1]
    found = cos_sin_cache.index_select(0, positions.flatten()).reshape(-1, width)
    cos, sin = found.chunk(2, -1)
    if positions.dim() == 2:
        sections = list(mrope_section or ())
        cos, sin = (_of_sections(one.reshape(3, -1, width // 2), sections, cache_mode) for one in (cos, sin))
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)

    def turned(x: Tensor) -> Tensor:
        heads = x.reshape(positions.shape[-1], -1, head_size)
        part, rest = heads[..., :width], heads[..., width:]
        made = rotated_pairs(part, cos, sin, halves=rotary_mode == "half")
        return torch.cat((made, rest), -1).reshape(x.shape)

    return turned(query), turned(key)
