"""`torch.func.rearrange`: dimensions split, joined and permuted as a pattern of names says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..functions.bound import function_of
from ..tensor.tensor import Tensor
from ._axes import (
    ParsedExpression,
    _ellipsis,
    parse_pattern,
    validate_rearrange_expressions,
)

_UNNAMED = "1"


class DimensionBindError(Exception):
    """A size that does not fit the axes a pattern makes of it."""


DimensionBindError.__module__ = "functorch.dim"


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """Return the tensor with its dimensions split, joined and permuted, a view where one is possible.

    Args:
        tensor: or a sequence of tensors of one shape, which are stacked first.
        pattern: both arrangements by name, as `"b (h w) c -> b c h w"`; `...` are any dimensions, `1` is one of size 1.
        axes_lengths: lengths of names; of each bracket one name may go without.

    Raises:
        ValueError: the pattern is none or does not fit the tensor.
        TypeError: lengths that are no integers.

    >>> torch.func.rearrange(torch.zeros(2, 3, 4), "a b c -> (a c) b").shape
    torch.Size([8, 3])
    """
    given = tensor if isinstance(tensor, Tensor) else function_of("stack")(tensor)
    left, right = parse_pattern(pattern, axes_lengths)
    validate_rearrange_expressions(left, right, axes_lengths)
    rank, wanted = given.dim(), len(left.composition) - left.has_ellipsis
    if (wanted > rank) if left.has_ellipsis else (wanted != rank):
        raise ValueError(
            f"Number of dimensions in pattern ({wanted}) must be {'less than or ' if left.has_ellipsis else ''}equal to the "
            f"number of dimensions in the tensor ({rank})"
        )
    if rank == 0:
        return given
    inner = rank - wanted
    names = [list(part) for part in _parts(left, inner)]
    sizes = _sizes(names, given.shape, axes_lengths)
    split = given.reshape([size for part in sizes for size in part])
    flat = [name for part in names for name in part]
    target = list(_parts(right, inner))
    unnamed = [place for place, name in enumerate(flat) if name == _UNNAMED]
    order = [flat.index(name) for part in target for name in part if name != _UNNAMED]
    moved = split.permute([*order, *unnamed])
    known = {flat[place]: split.shape[place] for place in order}
    if unnamed:  # torch sums over them, whatever their length
        moved = moved.sum(list(range(len(order), moved.dim())))
    return moved.reshape([math.prod(known.get(name, 1) for name in part) for part in target])


def _parts(side: ParsedExpression, inner: int) -> Iterator[tuple[str, ...]]:
    """Give per dimension the names it is made of; those of the ellipsis are numbered."""
    dots = tuple(f"{_ellipsis}{place}" for place in range(inner))
    for part in side.composition:
        if part == _ellipsis:
            yield from ((name,) for name in dots)
        elif not part:
            yield (_UNNAMED,)
        else:
            yield tuple(name for one in part for name in (dots if one == _ellipsis else (str(one),)))


def _sizes(names: list[list[str]], shape: Sequence[int], lengths: dict[str, int]) -> list[list[int]]:
    """Return the sizes of the names of each dimension, the one that is not given computed."""
    first, made = 0, []
    for part, size in zip(names, shape, strict=True):
        known: list[Any] = [lengths.get(name) for name in part]
        free = [place for place, length in enumerate(known) if length is None]
        labels = [f"d{first + place}" for place in range(len(part))]
        first += len(part)
        if len(free) > 1:
            raise DimensionBindError(
                f"cannot infer the sizes of two dimensions at once {labels[free[0]]} and {labels[free[1]]}"
            )
        total = math.prod(length for length in known if length is not None)
        if not free and total != size:
            pack = f"({labels[0]},)" if len(labels) == 1 else f"({', '.join(labels)})"
            raise DimensionBindError(
                f"Dimension sizes to do not match ({size} != {total}) when matching dimension pack {pack}"
            )
        if free and size % total:
            held = tuple("?" if length is None else length for length in known)
            raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {held}")
        made.append([size // total if length is None else length for length in known])
    return made


rearrange.__module__ = "torch.func"
