"""Contractions: `einsum`, `tensordot`, `inner`, brought to batched matrix products as torch brings them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from ..call import aten
from ..meta.checks import check, shape_text, wrap_dim, wrap_dims
from ..typing import Tensor

_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ELLIPSIS = "."


def _parse_inputs(left: str, count: int) -> list[list[str]]:
    """Return the labels of each operand, "." for an ellipsis."""
    labels: list[list[str]] = [[] for _ in range(count)]
    operand, ellipsis, at = 0, False, 0
    while at < len(left):
        label = left[at]
        if label == ".":
            check(
                not ellipsis,
                lambda: f"einsum(): found '.' for operand {operand} for which an ellipsis was already found",  # noqa: B023
            )
            check(
                left[at : at + 3] == "...",
                lambda: f"einsum(): found '.' for operand {operand} that is not part of any ellipsis",  # noqa: B023
            )
            labels[operand].append(_ELLIPSIS)
            ellipsis, at = True, at + 2
        elif label == ",":
            operand, ellipsis = operand + 1, False
            check(operand < count, lambda: "einsum(): fewer operands were provided than specified in the equation")
        elif label != " ":
            check(
                label in _LABELS,
                lambda at=at: (
                    f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must "
                    "be in [a-zA-Z]"
                ),
            )
            labels[operand].append(label)
        at += 1
    check(operand == count - 1, lambda: "einsum(): more operands were provided than specified in the equation")
    return labels


def _count_labels(labels: list[list[str]], operands: Sequence[Tensor]) -> tuple[dict[str, int], int]:
    """Return how often each label occurs, and how many dimensions the widest ellipsis covers."""
    counts: dict[str, int] = {}
    covered = 0
    for at, (given, operand) in enumerate(zip(labels, operands, strict=True)):
        dims, named = len(operand.shape), len(given) - given.count(_ELLIPSIS)
        has_ellipsis = named != len(given)
        if has_ellipsis:
            covered = max(covered, dims - named)
        for label in given:
            if label != _ELLIPSIS:
                counts[label] = counts.get(label, 0) + 1
        between = (
            ") is more than the number of dimensions ("
            if has_ellipsis
            else ") does not match the number of dimensions ("
        )
        after = "" if has_ellipsis else " and no ellipsis was given"
        check(
            named <= dims if has_ellipsis else named == dims,
            lambda at=at, named=named, dims=dims, between=between, after=after: (
                f"einsum(): the number of subscripts in the equation ({named}{between}{dims}) for operand {at}{after}"
            ),
        )
    return counts, covered


class _Places:
    """Where each label, and the ellipsis, stands in the common order: output dimensions first, then summed ones."""

    def __init__(self, equation: str, counts: dict[str, int], covered: int) -> None:
        self.covered = covered
        self.ellipsis = 0
        self.of: dict[str, int] = {}
        left, arrow, right = equation.partition("->")
        self.total = 0
        ellipsis_kept = not arrow
        if arrow:
            ellipsis_kept = self._explicit(right, len(left), counts)
        else:
            self.total = covered
            for label in _LABELS:
                if counts.get(label) == 1:
                    self._place(label)
        self.kept = self.total
        if not ellipsis_kept:
            self.ellipsis = self.total
            self.total += covered
        for label in _LABELS:
            if counts.get(label, 0) > 0 and label not in self.of:
                self._place(label)

    def _place(self, label: str) -> None:
        self.of[label] = self.total
        self.total += 1

    def _explicit(self, right: str, before: int, counts: dict[str, int]) -> bool:
        ellipsis, at = False, 0
        while at < len(right):
            label = right[at]
            if label == ".":
                check(not ellipsis, lambda: "einsum(): found '.' for output but an ellipsis (...) was already found")
                check(
                    right[at : at + 3] == "...",
                    lambda: "einsum(): found '.' for output that is not part of any ellipsis (...)",
                )
                self.ellipsis = self.total
                self.total += self.covered
                ellipsis, at = True, at + 2
            elif label != " ":
                check(
                    label in _LABELS,
                    lambda at=at: (
                        f"einsum(): invalid subscript given at index {before + 2 + at} in the equation string, "
                        "subscripts must be in [a-zA-Z]"
                    ),
                )
                twice = label in self.of
                check(
                    counts.get(label, 0) > 0 and not twice,
                    lambda label=label, twice=twice: (
                        f"einsum(): output subscript {label}"
                        + (
                            " appears more than once in the output"
                            if twice
                            else " does not appear in the equation for any input operand"
                        )
                    ),
                )
                self._place(label)
            at += 1
        return ellipsis


class _Sizes:
    """Extents seen so far, and how many operands have a dimension that is not of extent 1."""

    def __init__(self, places: _Places) -> None:
        self.places = places
        self.labels: dict[str, int] = {}
        self.ellipsis = [1] * places.covered
        self.counts = [0] * places.total

    def see_ellipsis(self, at: int, dim: int, extent: int, operand: int) -> None:
        """Note a dimension covered by an ellipsis."""
        if extent == 1:
            return
        check(
            self.ellipsis[at] in (1, extent),
            lambda: (
                f"einsum(): dimension {dim} covered by ellipsis in operand {operand}has size {extent} which does not "
                f"broadcast with previously seen ellipsis with size {self.ellipsis[at]} for the respective dimension"
            ),
        )
        self.ellipsis[at] = extent
        self.counts[self.places.ellipsis + at] += 1

    def see(self, label: str, extent: int, operand: int) -> None:
        """Note a labelled dimension."""
        if extent == 1:
            return
        seen = self.labels.get(label, 1)
        check(
            seen in (1, extent),
            lambda: (
                f"einsum(): subscript {label} has size {extent} for operand {operand} which does not broadcast with "
                f"previously seen size {seen}"
            ),
        )
        self.labels[label] = extent
        self.counts[self.places.of[label]] += 1


def _aligned(operand: Tensor, labels: list[str], number: int, places: _Places, sizes: _Sizes) -> Any:
    """Return the operand with its dimensions in the common order, missing ones inserted, repeated labels reduced."""
    order = [-1] * places.total
    given_dims, dim = len(operand.shape), 0
    for label in labels:
        if label == _ELLIPSIS:
            width = given_dims - (len(labels) - 1)
            for at in range(places.covered - width, places.covered):
                sizes.see_ellipsis(at, dim, operand.shape[dim], number)
                order[places.ellipsis + at] = dim
                dim += 1
        elif order[places.of[label]] == -1:
            sizes.see(label, operand.shape[dim], number)
            order[places.of[label]] = dim
            dim += 1
        else:
            earlier = order[places.of[label]]
            check(
                operand.shape[dim] == operand.shape[earlier],
                lambda label=label, dim=dim, earlier=earlier, shape=operand.shape: (
                    f"einsum(): subscript {label} is "
                    f"repeated for operand {number} but the sizes don't match, {shape[dim]} != {shape[earlier]}"
                ),
            )
            operand = aten.movedim(aten.diagonal(operand, 0, earlier, dim), -1, earlier)
    for at, source in enumerate(order):
        if source == -1:
            operand = aten.unsqueeze(operand, dim)
            order[at] = dim
            dim += 1
    return aten.permute(operand, order)


def _check_path(path: Any, count: int) -> None:
    wanted = 1 if count == 1 else (count - 1) * 2
    check(
        len(path) == wanted,
        lambda: (
            f"einsum(): expected contraction path given in path parameter to have size {wanted} but got {len(path)}"
        ),
    )


def _next_pair(path: deque[int] | None, count: int) -> tuple[int, int]:
    if path is None:
        return 0, 1
    first, second = sorted((path.popleft(), path.popleft()))
    check(
        first != second and first >= 0 and second < count,
        lambda: "einsum(): contraction path must specify two operands to contract",
    )
    return first, second


def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None = None) -> Any:
    """Sum of products by labels; operands are contracted left to right, or along `path`."""
    operands = list(tensors)
    check(bool(operands), lambda: "einsum(): must provide at least one operand")
    if path is not None:
        _check_path(path, len(operands))
    labels = _parse_inputs(equation.partition("->")[0], len(operands))
    counts, covered = _count_labels(labels, operands)
    places = _Places(equation, counts, covered)
    sizes = _Sizes(places)
    pending = deque(
        _aligned(operand, given, at, places, sizes)
        for at, (operand, given) in enumerate(zip(operands, labels, strict=True))
    )
    steps = deque(path) if path is not None else None
    while len(pending) > 1:
        result = _contract(pending, *_next_pair(steps, len(pending)), places, sizes.counts)
        pending.append(result) if steps is not None else pending.appendleft(result)
    last = pending[0]
    if places.total == places.kept:
        return last
    if len(operands) > 1:
        return aten.view(last, tuple(last.shape[: places.kept]))
    return aten.sum(last, list(range(places.kept, places.total)))


def _contract(pending: deque[Any], first: int, second: int, places: _Places, counts: list[int]) -> Any:
    """Take two operands out, multiply them and sum what no other operand has."""
    right, left = pending[second], pending[first]
    del pending[second], pending[first]
    both: list[int] = []
    alone: tuple[list[int], list[int]] = ([], [])
    for dim in range(places.kept, places.total):
        wide = (left.shape[dim] != 1, right.shape[dim] != 1)
        if all(wide):
            counts[dim] -= 1
            if counts[dim] == 1:
                both.append(dim)
                counts[dim] = 0
        elif counts[dim] == 1 and any(wide):
            alone[0 if wide[0] else 1].append(dim)
            counts[dim] = 0
    left = aten.sum(left, alone[0], True) if alone[0] else left
    right = aten.sum(right, alone[1], True) if alone[1] else right
    return _pair_product(left, right, both)


def _pair_product(left: Tensor, right: Tensor, summed: list[int]) -> Any:
    """Return the product of two operands of equal rank, summed over `summed` (kept as extents of 1)."""
    if not summed:
        return aten.mul(left, right)
    shared: list[int] = []
    left_only: list[int] = []
    right_only: list[int] = []
    for dim in range(len(left.shape)):
        wide_left, wide_right = left.shape[dim] != 1, right.shape[dim] != 1
        if dim in summed:
            continue
        (shared if wide_left and wide_right else left_only if wide_left else right_only).append(dim)
    sizes = [math.prod(left.shape[dim] for dim in dims) for dims in (shared, left_only, summed)]
    right_size = math.prod(right.shape[dim] for dim in right_only)
    shape = [
        *(left.shape[dim] for dim in (*shared, *left_only)),
        *(1 for _ in summed),
        *(right.shape[dim] for dim in right_only),
    ]
    order = [*shared, *left_only, *summed, *right_only]
    matrices = aten.reshape(aten.permute(left, order), sizes)
    others = aten.reshape(
        aten.permute(right, [*shared, *summed, *right_only, *left_only]), [sizes[0], sizes[2], right_size]
    )
    inverse = [0] * len(order)
    for at, dim in enumerate(order):
        inverse[dim] = at
    return aten.permute(aten.view(aten.bmm(matrices, others), shape), inverse)


def tensordot(self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]) -> Any:
    """Sum of products over pairs of dimensions."""
    check(len(dims_self) == len(dims_other), lambda: "both dimension lists should have same length")
    check(self.dtype is other.dtype, lambda: "both inputs should have same dtype")
    left_dims = wrap_dims(dims_self, len(self.shape)) if len(dims_self) else ()
    right_dims = wrap_dims(dims_other, len(other.shape)) if len(dims_other) else ()
    left, right, inner = self, other, 1
    for first, second, named1, named2 in zip(left_dims, right_dims, dims_self, dims_other, strict=True):
        size1, size2 = left.shape[first], right.shape[second]
        if size2 == 1:
            left = aten.sum(left, [first], True)
        elif size1 == 1:
            right = aten.sum(right, [second], True)
        else:
            check(
                size1 == size2,
                lambda a=size1, b=size2, c=named1, d=named2: (
                    "contracted dimensions need to match, but first has size "
                    f"{a} in dim {c} and second has size {b} in dim {d}"
                ),
            )
            inner *= size1
    left_kept = [dim for dim in range(len(left.shape)) if dim not in left_dims]
    right_kept = [dim for dim in range(len(right.shape)) if dim not in right_dims]
    shape = [left.shape[dim] for dim in left_kept] + [right.shape[dim] for dim in right_kept]
    left, right = aten.permute(left, [*left_kept, *left_dims]), aten.permute(right, [*right_dims, *right_kept])
    if not shape and left_dims:
        if len(left.shape) == len(right.shape) == 1:
            return aten.reshape(aten.dot(left, right), shape)
        return aten.reshape(aten.sum(aten.mul(aten.squeeze(left), aten.squeeze(right))), shape)
    rows = math.prod(shape[: len(left_kept)])
    columns = math.prod(shape[len(left_kept) :])
    return aten.reshape(aten.mm(aten.reshape(left, [rows, inner]), aten.reshape(right, [inner, columns])), shape)


def inner(self: Tensor, other: Tensor) -> Any:
    """Sum of products over the last dimensions."""
    if not self.shape or not other.shape:
        return aten.mul(self, other)
    check(
        self.shape[wrap_dim(-1, len(self.shape))] == other.shape[-1],
        lambda: (
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{shape_text(self.shape)} and {shape_text(other.shape)}"
        ),
    )
    return tensordot(self, other, [-1], [-1])
