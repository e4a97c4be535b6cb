"""Padding composed of other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.layout import contiguous_format

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor


def pad(self: Tensor, pad: Sequence[int], mode: str, value: float | None) -> Any:
    """`torch.nn.functional.pad` in all its modes."""
    check(len(pad) % 2 == 0, lambda: "Padding length must be divisible by 2")
    check(
        len(pad) <= 2 * len(self.shape),
        lambda: (
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {len(self.shape)}"
        ),
    )
    if mode == "constant":
        return aten.constant_pad_nd(self, list(pad), 0 if value is None else value)
    check(value is None or value == 0, lambda: f'Padding mode "{mode}" doesn\'t take in value argument')
    count, ndim = len(pad), len(self.shape)
    names = {"reflect": "reflection", "replicate": "replication"}
    if (mode in names or mode == "circular") and count in (2, 4, 6) and ndim in (count // 2 + 1, count // 2 + 2):
        if mode == "circular":
            return aten._pad_circular(self, list(pad))
        return getattr(aten, f"{names[mode]}_pad{count // 2}d")(self, list(pad))
    if mode not in names and mode != "circular":
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    raise NotImplementedError(
        f"Padding size {count} is not supported for {ndim}D input tensor.\n"
        "Supported combinations for non-constant padding:\n"
        "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
        "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
        "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
    )


def circular(self: Tensor, pad: Sequence[int]) -> Any:
    """Padding by the opposite end."""
    dims, ndim = len(pad) // 2, len(self.shape)
    check(
        dims + 1 == ndim or dims + 2 == ndim,
        lambda: (
            "Invalid padding size, expected 1 or 2 non-padded dimensions, which would be equivalent to padding of length "
            f"{2 * (ndim - 1)} or {2 * (ndim - 2)} respectively but got {len(pad)}"
        ),
    )
    joined = False
    for place in range(dims):
        left, right = pad[2 * place], pad[2 * place + 1]
        dim = len(self.shape) - 1 - place
        extent = self.shape[dim]
        check(
            left <= extent and right <= extent,
            lambda: "Padding value causes wrapping around more than once.",
        )
        check(left + right + extent >= 0, lambda: "Negative padding value is resulting in an empty dimension")
        parts = [aten.slice(self, dim, max(0, -left), extent - max(0, -right), 1)]
        if left > 0:
            parts.insert(0, aten.slice(self, dim, extent - left - max(0, -right), extent - max(0, -right), 1))
        if right > 0:
            parts.append(aten.slice(self, dim, max(0, -left), max(0, -left) + right, 1))
        joined = len(parts) > 1
        self = aten.cat(parts, dim) if joined else parts[0]
    return aten.contiguous(self) if joined else aten.clone(self, memory_format=contiguous_format)
