"""Tensors that are made of numbers, by the core operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch_dispatch.typing import Tensor

aten = torch.ops.aten


def zero_dim(value: object, like: Tensor) -> Any:
    return aten.scalar_tensor(value, dtype=like.dtype, layout=torch.strided, device=like.device)


def filled(value: int) -> Callable[..., Any]:
    def make(
        size: Sequence[int],
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool | None = None,
    ) -> Any:
        return aten.full(
            size,
            value,
            dtype=dtype or torch.get_default_dtype(),
            layout=layout or torch.strided,
            device=device or torch.get_default_device(),
            pin_memory=bool(pin_memory),
        )

    return make


def new_filled(value: int) -> Callable[..., Any]:
    def make(self: Tensor, size: Sequence[int], **options: Any) -> Any:
        return new_full(self, size, value, **options)

    return make


def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: object,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Any:
    return aten.full(
        size,
        fill_value,
        dtype=dtype or self.dtype,
        layout=layout or self.layout,
        device=device or self.device,
        pin_memory=bool(pin_memory),
    )


def filled_like(value: int) -> Callable[..., Any]:
    def make(
        self: Tensor,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool | None = None,
        memory_format: Any = None,
    ) -> Any:
        options = {name: one for name, one in (("dtype", dtype), ("layout", layout), ("device", device)) if one}
        return aten.full_like(
            self,
            value,
            **options,
            pin_memory=bool(pin_memory),
            memory_format=memory_format or torch.preserve_format,
        )

    return make


def arange(start: Any, end: Any = None, **options: object) -> Any:
    low, high = (0, start) if end is None else (start, end)
    given = {name: one for name, one in options.items() if one is not None}
    given.setdefault("layout", torch.strided)
    given.setdefault("device", torch.get_default_device())
    given["pin_memory"] = bool(given.get("pin_memory"))
    return aten.arange.start_step(low, high, **given)


def eye(n: int, m: int | None = None, *, dtype: Any = None, **options: object) -> Any:
    given = {**options, "dtype": torch.uint8 if n < 256 and (m or n) < 256 else torch.int64}
    down, along = arange(n, **given), arange(n if m is None else m, **given)
    return aten._to_copy(aten.eq(aten.unsqueeze(down, -1), along), dtype=dtype or torch.get_default_dtype())


def fill(self: Tensor, value: object) -> Any:
    return aten.full_like(self, value, pin_memory=False)


def fill_tensor(self: Tensor, value: object) -> Any:
    return aten.copy(self, value)
