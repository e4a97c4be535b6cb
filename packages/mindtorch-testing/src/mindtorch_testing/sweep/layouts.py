"""Runs op_db's entries with operands that lie otherwise in memory: strides of results are those of torch, and so are errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_testing.convert import map_structure
from mindtorch_testing.sweep.entry import EntryRunner, sample_dtype
from mindtorch_testing.sweep.outcome import EntryResult

UNORDERED = frozenset({"as_strided", "as_strided_copy", "as_strided_scatter"})
"""Entries whose results depend on where elements lie: their samples say something else in another layout."""


def _ordered(tensor: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Return the tensor with its dimensions laid out in `order`, the outermost first."""
    return tensor.permute(order).contiguous().permute([order.index(place) for place in range(tensor.dim())])


def reversed_dimensions(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor with the first dimension innermost, as a transposed matrix lies."""
    return _ordered(tensor, list(range(tensor.dim()))[::-1])


def rotated_dimensions(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor with the first dimension behind the second one; of 3 and more it is neither order of a matrix."""
    return _ordered(tensor, [1, 0, *range(2, tensor.dim())] if tensor.dim() > 1 else [0])


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """Return images and volumes with channels innermost, everything else as it is."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats[tensor.dim()]) if tensor.dim() in formats else tensor


def every_other(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor as every other element of the last dimension of a larger one."""
    return torch.stack((tensor, tensor.new_zeros(tensor.shape)), -1)[..., 0]


def part_of_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor as the end of the rows of a larger one: gaps between rows, and an offset."""
    if tensor.dim() < 2:
        return torch.cat((tensor.new_zeros(1), tensor))[1:]
    return torch.cat((tensor.new_zeros(tensor.shape[0], 1, *tensor.shape[2:]), tensor), 1)[:, 1:]


LAYOUTS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    reversed_dimensions,
    rotated_dimensions,
    channels_last,
    every_other,
    part_of_rows,
)


def laid_out(sample: SampleInput, layout: Callable[[torch.Tensor], torch.Tensor], most: int) -> SampleInput | None:
    """Return the sample with up to `most` of its tensors laid out anew; None where that changes no strides."""
    changed, left = False, most

    def lay(value: Any) -> Any:
        nonlocal changed, left
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided or left == 0:
            return value
        left -= 1
        if value.dim() == 0 or value.numel() == 0 or value.is_nested or value.is_quantized:
            return value
        found = layout(value.detach())
        changed = changed or found.stride() != value.stride() or found.storage_offset() != value.storage_offset()
        return found.requires_grad_(value.requires_grad)

    first, *rest = map_structure((sample.input, *sample.args), lay)
    kwargs = map_structure(dict(sample.kwargs), lay)
    process = sample.output_process_fn_grad
    made = SampleInput(first, args=tuple(rest), kwargs=kwargs, output_process_fn_grad=process)
    return made if changed else None


class LayoutRunner(EntryRunner):
    """Judges `forward`, `strides` and `backward` as for op_db's own operands, and `errors` where torch refuses a layout."""

    fields = ("forward", "strides", "backward", "errors")

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        dtype = sample_dtype(info)
        if dtype is None or info.name in UNORDERED:
            return
        for sample in self._laid_out(info, dtype, grad=False):
            self._forward(info, sample, result)
            self._error(info, sample, result)
        if info.supports_autograd and dtype in info.backward_dtypes:
            for sample in self._laid_out(info, dtype, grad=True):
                self._backward(info, sample, result)

    def _laid_out(self, info: OpInfo, dtype: torch.dtype, *, grad: bool) -> Iterator[SampleInput]:
        """Yield the samples in each layout: of all operands, and of the first one alone."""
        for sample in self._samples(info, dtype, grad=grad):
            for layout in LAYOUTS:
                for most in (-1, 1):
                    made = laid_out(sample, layout, most)
                    if made is not None:
                        yield made
