"""Meta rules of sliding blocks as columns."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.spec import Spec

from .checks import check, shape_text
from .rule import meta_rule
from .support import INTEGERS, refuse
from .window import window_count

Pair = Sequence[int]


def _check_pairs(kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> None:
    for name, pair in (("kernel_size", kernel_size), ("dilation", dilation), ("padding", padding), ("stride", stride)):
        check(
            len(pair) == 2, lambda name=name, pair=pair: f"It is expected {name} equals to 2, but got size {len(pair)}"
        )
    for what, short, pair in (
        ("kernel size", "kernel", kernel_size),
        ("stride", "stride", stride),
        ("dilation", "dilation", dilation),
    ):
        check(
            pair[0] > 0 and pair[1] > 0,
            lambda what=what, short=short, pair=pair: (
                f"{what} should be greater than zero, but got {short}_height: {pair[0]} {short}_width: {pair[1]}"
            ),
        )
    check(
        padding[0] >= 0 and padding[1] >= 0,
        lambda: f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}",
    )


def blocks(size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> tuple[int, ...]:
    """Return how many blocks fit in each dimension; less than one where none does."""
    return tuple(map(window_count, size, kernel_size, stride, padding, dilation))


def _pair(pair: Pair) -> str:
    return f"({pair[0]}, {pair[1]})"


def _check_kernel(spec: Spec, name: str) -> None:
    refuse(spec, name, INTEGERS)


@meta_rule(out=True)
def im2col(self: Spec, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Spec:
    """(N, C, H, W) to (N, C*prod(kernel_size), L)."""
    for dim in (1, 2) if self.ndim < 3 else ():
        check(
            dim < self.ndim,
            lambda dim=dim: (
                f"Dimension out of range (expected to be in range of [{-self.ndim}, {self.ndim - 1}], but got {dim})"
            ),
            IndexError,
        )
    _check_pairs(kernel_size, dilation, padding, stride)
    sizes = self.shape[1:] if self.ndim == 4 else self.shape
    check(
        self.ndim in (3, 4) and all(sizes),
        lambda: (
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {shape_text(self.shape)}"
        ),
    )
    counts = blocks(self.shape[-2:], kernel_size, dilation, padding, stride)
    check(
        min(counts) >= 1,
        lambda: (
            f"Given input with spatial size {_pair(self.shape[-2:])}, kernel_size={_pair(kernel_size)}, "
            f"dilation={_pair(dilation)}, padding={_pair(padding)}, calculated shape of the array of sliding blocks as "
            f"{_pair(counts)}, but its components must be at least one."
        ),
    )
    _check_kernel(self, "im2col_out_cpu")
    rows = self.shape[-3] * kernel_size[0] * kernel_size[1]
    return Spec.of(self.dtype, self.device, (*self.shape[:-3], rows, counts[0] * counts[1]))


@meta_rule(out=True)
def col2im(self: Spec, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Spec:
    """(N, C*prod(kernel_size), L) to (N, C, *output_size)."""
    check(len(output_size) == 2, lambda: f"It is expected output_size equals to 2, but got size {len(output_size)}")
    _check_pairs(kernel_size, dilation, padding, stride)
    sizes = self.shape[1:] if self.ndim == 3 else self.shape
    check(
        self.ndim in (2, 3) and all(sizes),
        lambda: (
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {shape_text(self.shape)}"
        ),
    )
    area = kernel_size[0] * kernel_size[1]
    rows, columns = self.shape[-2:]
    check(
        rows % area == 0,
        lambda: (
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={rows} and kernel_size={_pair(kernel_size)}."
        ),
    )
    counts = blocks(output_size, kernel_size, dilation, padding, stride)
    given = (
        f"Given output_size={_pair(output_size)}, kernel_size={_pair(kernel_size)}, dilation={_pair(dilation)}, "
        f"padding={_pair(padding)}, stride={_pair(stride)}, expected "
    )
    check(
        columns == counts[0] * counts[1],
        lambda: (
            f"{given}size of input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * "
            f"{counts[1]} = {counts[0] * counts[1]}, but got input.size(2)={columns}."
        ),
    )
    check(
        min(counts) >= 1,
        lambda: (
            f"{given.removesuffix('expected ')}calculated shape of the array of sliding blocks as {_pair(counts)}, which is too "
            "small (non-positive)"
        ),
    )
    _check_kernel(self, "col2im_out_cpu")
    return Spec.of(self.dtype, self.device, (*self.shape[:-2], rows // area, *output_size))
