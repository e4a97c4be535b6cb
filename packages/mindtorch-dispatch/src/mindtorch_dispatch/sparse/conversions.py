"""What a conversion between dense and sparse layouts may be asked for, in the order in which torch refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import layout_name, sparse_coo, strided
from mindtorch_storage.sparse import CompressedSpec

from ..meta.checks import check, shape_text
from ..typing import Tensor
from .compressed import BLOCKS


def layout_suffix(layout: Layout) -> str:
    """Return the end of the names of functions that make this layout: `sparse_csr`."""
    return str(layout).removeprefix("torch.")


def check_conversion(
    self: Tensor, target: Layout, blocksize: Sequence[int] | None, dense_dim: int | None, form: str = ""
) -> None:
    """Raise torch's RuntimeError for arguments that a conversion to `target` does not take.

    `form` is the end of the method's name where one makes this layout alone: `_csr`.
    """
    current = self._sig.spec.layout
    name = _operation(current, target, form)
    between = f"{name}: conversion from {layout_name(current)} to {layout_name(target)}"
    if current is sparse_coo and target is not sparse_coo:
        check(self.sparse_dim() == 2, lambda: f"{between} for input tensors with sparse_dim()!=2 is not supported")
    blocks = target in BLOCKS
    check(blocksize is not None or not blocks, lambda: f"{between} without blocksize argument given is not supported")
    if blocksize is not None:
        _check_blocksize(name, blocksize)
        check(blocks, lambda: f"{between} with blocksize argument given is not supported")
        if current in BLOCKS:
            have = cast(CompressedSpec, self._sig.spec).blocksize
            check(
                tuple(blocksize) == have,
                lambda: (
                    f"{between} with blocksize changed from {shape_text(have or ())} to {shape_text(blocksize)} "
                    "is not supported"
                ),
            )
        _check_divisible(self, name, blocksize, dense_dim or 0)
    if dense_dim is None:
        _check_batch(self, blocks, between)
        return
    check(current is strided, lambda: f"{between} with dense_dim argument given is not supported")
    dims = self.dim()
    most = dims if target is sparse_coo else dims - 2
    check(
        0 <= dense_dim <= most,
        lambda: f"{name}: dense_dim argument must be in [0,{most}] range, but {dense_dim} is given",
    )
    if target is sparse_coo and dims:
        check(dense_dim != dims, lambda: f"{name}: dense_dim argument must be !=self.dim() when self.dim()>0")


def _check_batch(self: Tensor, blocks: bool, between: str) -> None:
    """Refuse batches of elements where blocks are made of them."""
    spec = self._sig.spec
    check(
        not (blocks and isinstance(spec, CompressedSpec) and spec.layout not in BLOCKS and spec.batch_dim),
        lambda: f"{between} for batched inputs is not supported",
    )


def _operation(current: Layout, target: Layout, form: str) -> str:
    if current is target:
        return "to_sparse" + form
    if current is strided:
        return "dense_to_sparse" + form
    if current is sparse_coo:
        return "coo_to_sparse" + form if form else "sparse_coo_to_sparse"
    return "sparse_compressed_to_sparse" + form


def _check_blocksize(name: str, blocksize: Sequence[int]) -> None:
    check(len(blocksize) == 2, lambda: f"{name}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}")
    check(
        blocksize[0] > 0 and blocksize[1] > 0,
        lambda: f"{name}: blocksize needs to be positive, but got {shape_text(list(blocksize))}",
    )


def check_block_layout(name: str, layout: Layout, blocksize: Sequence[int]) -> None:
    """Refuse blocks for a layout of elements, and a layout of blocks without two positive extents."""
    if layout in BLOCKS:
        _check_blocksize(name, blocksize)
    else:
        check(
            not blocksize, lambda: f"{name}: blocksize cannot be specified for non-block layout {layout_name(layout)}"
        )


def check_block_multiples(name: str, batch: int, size: Sequence[int], blocksize: Sequence[int]) -> None:
    """Refuse rows and columns that blocks do not divide."""
    for number, extent in enumerate(blocksize):
        have = size[batch + number]
        check(
            have % extent == 0,
            lambda dim=batch + number, number=number, extent=extent, have=have: (
                f"{name}: dimension {dim} must be multiple of blocksize[{number}](={extent}) but got {have}"
            ),
        )


def _check_divisible(self: Tensor, name: str, blocksize: Sequence[int], dense: int) -> None:
    if self._sig.spec.layout is strided:
        rows, columns = self.size(-2 - dense), self.size(-1 - dense)  # IndexError where there are none
    else:
        at = 0 if self._sig.spec.layout is sparse_coo else cast(CompressedSpec, self._sig.spec).batch_dim
        rows, columns = self.shape[at : at + 2]
    check(
        rows % blocksize[0] == 0 and columns % blocksize[1] == 0,
        lambda: (
            f"{name}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize "
            f"({blocksize[0]},{blocksize[1]})"
        ),
    )
