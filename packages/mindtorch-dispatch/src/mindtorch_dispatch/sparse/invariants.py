"""What must hold of the parts of a compressed tensor, in torch's words where it does not."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_storage.dtype import int32, int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import strided

from ..call import aten
from ..meta.checks import check, shape_text
from ..typing import Tensor
from .compressed import BLOCKS, ROWS, layout_name


def check_arguments(bounds: Tensor, plain: Tensor, values: Tensor, size: list[int], layout: Layout) -> None:
    """Raise where the parts do not make a tensor of this layout and size."""
    by_rows = layout in ROWS
    of_bounds, of_plain = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    for name, part in ((of_bounds, bounds), (of_plain, plain), ("values", values)):
        kind = part._sig.spec.layout
        check(
            kind is strided,
            lambda name=name, kind=kind: f"expected {name} to be a strided tensor but got {layout_name(kind)} tensor",
        )
    for name, part in ((of_bounds, bounds), (of_plain, plain)):
        check(
            part.dim() == 0 or part.shape[-1] < 2 or part.stride()[-1] == 1,
            lambda name=name: f"expected {name} to be a contiguous tensor per batch",
        )
    _check_shapes(bounds, plain, values, size, layout, (of_bounds, of_plain))
    kinds = bounds.dtype, plain.dtype
    check(
        kinds[0] is kinds[1],
        lambda: (
            f"{of_bounds} and {of_plain} must have the same dtype, bot got {kinds[0].scalar_name} and "
            f"{kinds[1].scalar_name}, respectively"
        ),
    )
    check(
        kinds[0] in (int32, int64),
        lambda: f"{of_bounds} and {of_plain} dtype must be Int or Long, but got {kinds[0].scalar_name}",
    )
    batch = bounds.dim() - 1
    high, wide = values.shape[batch + 1 : batch + 3] if layout in BLOCKS else (1, 1)
    rows, columns = size[batch] // high, size[batch + 1] // wide
    lines, width = (rows, columns) if by_rows else (columns, rows)
    check_indices(by_rows, bounds, plain, lines, width, plain.shape[-1])


def _check_shapes(
    bounds: Tensor, plain: Tensor, values: Tensor, size: list[int], layout: Layout, names: tuple[str, str]
) -> None:
    of_bounds, of_plain = names
    base, block = 2, 2 if layout in BLOCKS else 0
    check(bounds.dim() >= 1, lambda: f"{of_bounds} must have dimensionality >= 1 but got {bounds.dim()}")
    check(
        bounds.dim() == plain.dim(),
        lambda: (
            f"{of_bounds} and {of_plain} dimensionalities must be equal but got {bounds.dim()} and {plain.dim()}, "
            "respectively"
        ),
    )
    batch = bounds.dim() - 1
    check(
        values.dim() > batch + block,
        lambda: (
            "values must have dimensionality > sum of batch and block dimensionalities "
            f"(={batch} + {block}) but got {values.dim()}"
        ),
    )
    dense = values.dim() - batch - block - 1
    check(
        len(size) == batch + base + dense,
        lambda: (
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
            f"(={batch} + {base} + {dense}) but got {len(size)}"
        ),
    )
    leads = [list(part.shape[:batch]) for part in (bounds, plain, values)]
    check(
        all(lead == size[:batch] for lead in leads),
        lambda: (
            f"all batch dimensions of {of_bounds} (={shape_text(leads[0])}), {of_plain} (={shape_text(leads[1])}), and "
            f"values (={shape_text(leads[2])}) must be equal to tensor batch dimensions (={shape_text(size[:batch])})"
        ),
    )
    _check_lines(bounds, plain, values, size, layout, names)


def _check_lines(
    bounds: Tensor, plain: Tensor, values: Tensor, size: list[int], layout: Layout, names: tuple[str, str]
) -> None:
    """Raise where blocks do not fill the size, or there are not as many bounds and indices as lines and values."""
    of_bounds, of_plain = names
    batch, block = bounds.dim() - 1, layout in BLOCKS
    blocksize = list(values.shape[batch + 1 : batch + 3]) if block else [1, 1]
    for number, extent in enumerate(blocksize):
        check(
            extent == 0 or size[batch + number] % extent == 0,
            lambda number=number, extent=extent: (
                f"tensor shape[{number}] (={size[batch + number]}) must be divisible with blocksize[{number}] "
                f"(={extent}) as defined by values shape"
            ),
        )
    by_rows = layout in ROWS
    lines = size[batch + (not by_rows)] // max(blocksize[not by_rows], 1)
    kind = ("row" if by_rows else "column") + (" blocks" if block else "s")
    check(
        bounds.shape[-1] == lines + 1,
        lambda: (
            f"{of_bounds}.shape[-1] must be equal to the number of {kind} + 1 (={lines + 1}), but got {bounds.shape[-1]}"
        ),
    )
    nnz = values.shape[batch]
    check(
        plain.shape[-1] == nnz,
        lambda: (
            f"{of_plain}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{batch}], but got "
            f"{plain.shape[-1]}"
        ),
    )


def check_indices(is_crow: bool, bounds: Tensor, plain: Tensor, lines: int, width: int, nnz: int) -> None:
    """Raise where bounds do not go up from 0 to `nnz`, or indices are out of range or order."""
    name, other = ("crow_indices", "col_indices") if is_crow else ("ccol_indices", "row_indices")
    wide, tall = ("ncols", "nrows") if is_crow else ("nrows", "ncols")
    _must(aten.eq(bounds[..., 0], 0), f"`{name}[..., 0] == 0`")
    _must(aten.eq(bounds[..., -1], nnz), f"`{name}[..., -1] == nnz`")
    _must(aten.logical_and(aten.ge(plain, 0), aten.lt(plain, width)), f"`0 <= {other} < {wide}`")
    of_lengths = f"`0 <= {name}[..., 1:] - {name}[..., :-1] <= {wide}`"
    of_order = (
        f"`{other}[..., {name}[..., i - 1]:{name}[..., i]] for all i = 1, ..., {tall} are sorted and distinct along the "
        "last dimension values`"
    )
    batches = math.prod(bounds.shape[:-1])
    for one, indices in zip(
        aten.unbind(aten.reshape(bounds, [batches, lines + 1])),
        aten.unbind(aten.reshape(plain, [batches, nnz])),
        strict=True,
    ):
        lengths = aten.sub(one[1:], one[:-1])
        wrong = aten.nonzero(aten.logical_or(aten.lt(lengths, 0), aten.gt(lengths, width)))
        right = int(wrong[0, 0]) if wrong.shape[0] else lines
        _must(_rising(one[: right + 1], indices), of_order)  # of the lines before the first of a wrong length
        _must(wrong.shape[0] == 0, of_lengths)


def _rising(bounds: Tensor, plain: Tensor) -> Any:
    """Return for every two neighbours whether they go up, or do not stand in one row."""
    count = int(bounds[-1])
    begins = aten.zeros([plain.shape[0] + 1], dtype=int64, device=plain.device)
    aten.index_fill_(begins, 0, aten._to_copy(bounds, dtype=int64), 1)
    within = plain[:count]
    return aten.logical_or(aten.gt(within[1:], within[:-1]), aten.ne(begins[1 : within.shape[0]], 0))


def _must(holds: Tensor | bool, text: str) -> None:
    well = holds if isinstance(holds, bool) else bool(aten.all(holds))
    check(well, lambda: f"{text} is not satisfied.")
