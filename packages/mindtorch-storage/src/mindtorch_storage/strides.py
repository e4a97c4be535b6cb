"""Pure arithmetic on shapes and strides, in elements: contiguity, broadcasting, views, output strides.

The rules are torch's observable ones, ambiguous cases (extents of 0 and 1, strides of 0) included, because programs
see them through `Tensor.stride()` and because `view` succeeds or fails by them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Shape = Sequence[int]
Strides = Sequence[int]

_CHANNELS_LAST = (1, 3, 2, 0)
_CHANNELS_LAST_3D = (1, 4, 3, 2, 0)


def contiguous_strides(shape: Shape) -> tuple[int, ...]:
    """Row-major strides; an extent of 0 counts as 1 so that outer strides stay useful."""
    strides = [1] * len(shape)
    step = 1
    for dim in range(len(shape) - 1, 0, -1):
        extent = shape[dim]
        if extent > 1:
            step *= extent
        strides[dim - 1] = step
    return tuple(strides)


def is_contiguous(shape: Shape, strides: Strides) -> bool:
    """True when the elements lie in row-major order without gaps; strides of extents below 2 do not matter."""
    expected = 1
    for extent, step in zip(reversed(shape), reversed(strides), strict=True):
        if extent == 1:
            continue
        if extent == 0:
            return True
        if step != expected:
            return 0 in shape
        expected *= extent
    return True


def _in_order(shape: Shape, strides: Strides, order: tuple[int, ...]) -> bool:
    if len(shape) != len(order):
        return False
    expected = 1
    for dim in order:
        if shape[dim] != 1:
            if strides[dim] != expected:
                return False
            expected *= shape[dim]
    return True


def is_channels_last_contiguous(shape: Shape, strides: Strides) -> bool:
    """True when a 4-d geometry is dense with its channel dimension innermost."""
    return _in_order(shape, strides, _CHANNELS_LAST)


def is_channels_last_3d_contiguous(shape: Shape, strides: Strides) -> bool:
    """True when a 5-d geometry is dense with its channel dimension innermost."""
    return _in_order(shape, strides, _CHANNELS_LAST_3D)


def _strides_in_order(shape: Shape, order: Iterable[int]) -> tuple[int, ...]:
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def channels_last_strides(shape: Shape) -> tuple[int, ...]:
    """Strides of `torch.channels_last` for a 4-d shape, or a 3-d one without the batch dimension."""
    if len(shape) == 4:
        return _strides_in_order(shape, _CHANNELS_LAST)
    if len(shape) == 3:
        return _strides_in_order(shape, (0, 2, 1))
    raise RuntimeError("required rank 4 tensor to use channels_last format")


def channels_last_3d_strides(shape: Shape) -> tuple[int, ...]:
    """Strides of `torch.channels_last_3d` for a 5-d shape, or a 4-d one without the batch dimension."""
    if len(shape) == 5:
        return _strides_in_order(shape, _CHANNELS_LAST_3D)
    if len(shape) == 4:
        return _strides_in_order(shape, (0, 3, 2, 1))
    raise RuntimeError("required rank 5 tensor to use channels_last_3d format")


def _looks_like_order(shape: Shape, strides: Strides, order: tuple[int, ...]) -> bool:
    if len(shape) != len(order) or strides[1] == 0:
        return False
    least = 0
    for dim in order:
        if shape[dim] == 0 or strides[dim] < least:
            return False
        # [N, 1, 1, 1] with equal strides fits both formats; it counts as contiguous.
        if dim == 0 and least == strides[1]:
            return False
        least = strides[dim] * max(shape[dim], 1)
    return True


def suggests_channels_last(shape: Shape, strides: Strides) -> bool:
    """True when the strides, dense or not, order a 4-d geometry with channels innermost."""
    return _looks_like_order(shape, strides, _CHANNELS_LAST)


def suggests_channels_last_3d(shape: Shape, strides: Strides) -> bool:
    """True when the strides, dense or not, order a 5-d geometry with channels innermost."""
    return _looks_like_order(shape, strides, _CHANNELS_LAST_3D)


def is_non_overlapping_and_dense(shape: Shape, strides: Strides) -> bool:
    """True when some permutation of the dimensions is row-major without gaps, or there is no element."""
    if 0 in shape:
        return True
    if len(shape) == 1:
        return shape[0] < 2 or strides[0] == 1
    expected = 1
    long_dims = sorted((step, extent) for extent, step in zip(shape, strides, strict=True) if extent >= 2)
    if not long_dims:
        return True
    for step, extent in long_dims:
        if step != expected:
            return False
        expected *= extent
    return True


def has_internal_overlap(shape: Shape, strides: Strides) -> bool:
    """True when two indices certainly reach the same element (a stride of 0 over an extent above 1)."""
    return 0 not in shape and any(step == 0 and extent > 1 for extent, step in zip(shape, strides, strict=True))


def memory_span(shape: Shape, strides: Strides, offset: int = 0) -> int:
    """How many elements a storage must hold for this geometry at `offset`; 0 for an empty geometry."""
    span = 1
    for extent, step in zip(shape, strides, strict=True):
        if extent == 0:
            return 0
        span += step * (extent - 1)
    return offset + span


def check_fits(shape: Shape, strides: Strides, offset: int, itemsize: int, nbytes: int) -> None:
    """Refuse a geometry that reaches outside a storage of `nbytes`; RuntimeError with torch's texts."""
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if len(shape) != len(strides):
        raise RuntimeError(f"unequal size length ({len(shape)}) and stride length ({len(strides)})")
    if math.prod(shape) >= 2**63:
        raise RuntimeError("numel: integer multiplication overflow")
    needed = memory_span(shape, strides, offset) * itemsize
    if needed > 2**63 - 1:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    if needed > nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {needed} are out of bounds for storage of size {nbytes}"
        )


def broadcast_pair(first: Shape, second: Shape) -> tuple[int, ...]:
    """Broadcast two shapes; RuntimeError with torch's text when they do not fit."""
    longer = max(len(first), len(second))
    result = [0] * longer
    for dim in range(longer - 1, -1, -1):
        from_end = longer - dim
        left = first[-from_end] if from_end <= len(first) else 1
        right = second[-from_end] if from_end <= len(second) else 1
        if left == right or right == 1:
            result[dim] = left
        elif left == 1:
            result[dim] = right
        else:
            raise RuntimeError(
                f"The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton "
                f"dimension {dim}"
            )
    return tuple(result)


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Broadcast any number of shapes, left to right."""
    result: tuple[int, ...] = ()
    for shape in shapes:
        if result != shape:
            result = broadcast_pair(result, shape) if result else tuple(shape)
    return result


def expanded_strides(shape: Shape, strides: Strides, target: Shape) -> tuple[int, ...]:
    """Strides with which an operand is read at the broadcast shape: 0 where it repeats."""
    lead = len(target) - len(shape)
    return (0,) * lead + tuple(
        0 if extent == 1 and target[lead + dim] != 1 else step
        for dim, (extent, step) in enumerate(zip(shape, strides, strict=True))
    )


def _text(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]"


def infer_size(shape: Shape, numel: int) -> tuple[int, ...]:
    """Fill in the one -1 that `view` and `reshape` allow; RuntimeError with torch's texts when nothing fits."""
    known, unknown = 1, None
    for dim, extent in enumerate(shape):
        if extent == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = dim
        elif extent < 0:
            raise RuntimeError(f"invalid shape dimension {extent} at index {dim} of shape {_text(shape)}")
        else:
            known *= extent
    if numel == known or (unknown is not None and known > 0 and numel % known == 0):
        if unknown is None:
            return tuple(shape)
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {_text(shape)} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        return (*shape[:unknown], numel // known, *shape[unknown + 1 :])
    raise RuntimeError(f"shape '{_text(shape)}' is invalid for input of size {numel}")


def view_strides(shape: Shape, strides: Strides, new_shape: Shape) -> tuple[int, ...] | None:
    """Strides that show the same memory under `new_shape` (equal element count), or None when a copy is needed."""
    if not shape:
        return (1,) * len(new_shape)
    if 0 in shape:
        return tuple(strides) if tuple(shape) == tuple(new_shape) else contiguous_strides(new_shape)
    shape = tuple(shape)  # of a plain tuple an item is had at once
    result = [0] * len(new_shape)
    view_dim = len(new_shape) - 1
    base = strides[-1]
    chunk = viewed = 1
    for dim in range(len(shape) - 1, -1, -1):
        chunk *= shape[dim]
        if dim and (shape[dim - 1] == 1 or strides[dim - 1] == chunk * base):
            continue
        while view_dim >= 0 and (viewed < chunk or new_shape[view_dim] == 1):
            result[view_dim] = viewed * base
            viewed *= new_shape[view_dim]
            view_dim -= 1
        if viewed != chunk:
            return None
        if dim:
            base = strides[dim - 1]
            chunk = viewed = 1
    return tuple(result) if view_dim == -1 else None


def _swap_sign(shape: Shape, all_strides: Sequence[Strides], inner: int, outer: int) -> int:
    """Whether dimension `outer` belongs inside `inner`: 1 yes, -1 no, 0 unknown, asked operand by operand."""
    for strides in all_strides:
        inner_step, outer_step = strides[inner], strides[outer]
        if inner_step == 0 or outer_step == 0:
            continue
        if inner_step != outer_step:
            return -1 if inner_step < outer_step else 1
        if shape[inner] > shape[outer]:
            return 1
    return 0


def _walked_order(shape: Shape, all_strides: Sequence[Strides]) -> tuple[list[int], bool]:
    order = list(range(len(shape) - 1, -1, -1))
    undecided = False
    for start in range(1, len(order)):
        moving = start
        for candidate in range(start - 1, -1, -1):
            sign = _swap_sign(shape, all_strides, order[candidate], order[moving])
            if sign > 0:
                order[candidate], order[moving] = order[moving], order[candidate]
                moving = candidate
            elif sign < 0:
                break
            else:
                undecided = True
    return order, undecided


def dimension_order(shape: Shape, all_strides: Sequence[Strides]) -> list[int]:
    """Dimensions from innermost to outermost as the operands' strides suggest.

    An insertion sort that walks on over undecided pairs: with partial information its result depends on the walk,
    so the walk itself is part of the behaviour.
    """
    return _walked_order(shape, all_strides)[0]


def is_order_open(shape: Shape, strides: Strides) -> bool:
    """Whether the strides leave the order of two dimensions open."""
    return 0 not in shape and _walked_order(shape, [strides])[1]


def elementwise_strides(shape: Shape, operands: Sequence[tuple[Shape, Strides]]) -> tuple[int, ...]:
    """Strides of a freshly allocated result of an element-wise op over these (shape, strides) operands.

    Pass every operand, a Python number as `((), ())`: one operand of another shape already changes the answer for
    dimensions whose order the strides leave open.
    """
    if all(len(op_shape) == len(shape) and tuple(op_shape) == tuple(shape) for op_shape, _ in operands):
        if all(is_contiguous(shape, strides) for _, strides in operands):
            return contiguous_strides(shape)
        if all(is_channels_last_contiguous(shape, strides) for _, strides in operands):
            return channels_last_strides(shape)
        first = tuple(operands[0][1])
        if is_non_overlapping_and_dense(shape, first) and all(tuple(strides) == first for _, strides in operands):
            return first
    order = dimension_order(shape, [expanded_strides(*operand, shape) for operand in operands])
    if order == list(range(len(shape) - 1, -1, -1)):
        return contiguous_strides(shape)
    result, step = [0] * len(shape), 1
    for dim in order:
        result[dim] = step
        step *= shape[dim]
    return tuple(result)


def preserved_strides(shape: Shape, strides: Strides) -> tuple[int, ...]:
    """Strides of a copy with `torch.preserve_format`: the same when dense, else dense in the same dimension order."""
    if is_non_overlapping_and_dense(shape, strides):
        return tuple(strides)
    result = [0] * len(shape)
    step = 1
    for dim in dimension_order(shape, [strides]):
        result[dim] = step
        step *= max(shape[dim], 1)
    return tuple(result)


def numel(shape: Shape) -> int:
    """The number of elements of a shape."""
    return math.prod(shape)
