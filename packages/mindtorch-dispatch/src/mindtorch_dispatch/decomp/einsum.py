"""Contractions: `einsum`, `tensordot`, `inner`, brought to batched matrix products as torch brings them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mindtorch_storage.spec import Spec

from ..apart import ANYWHERE, ELEMENTWISE, Apart
from ..call import aten
from ..meta.checks import check, shape_text, wrap_dim, wrap_dims
from ..typing import Tensor
from .equation import ELLIPSIS, Places, Sizes, count_labels, parse_inputs


class _Alignment:
    """How an operand gets its dimensions into the common order: diagonals of repeated labels, insertions, a permutation."""

    def __init__(self, shape: Sequence[int], labels: list[str], number: int, places: Places, sizes: Sizes) -> None:
        self.diagonals: list[tuple[int, int]] = []
        self.inserted: list[int] = []
        extents, width, dim = list(shape), len(shape) - (len(labels) - 1), 0
        order = self.order = [-1] * places.total
        for label in labels:
            if label == ELLIPSIS:
                for at in range(places.covered - width, places.covered):
                    sizes.see_ellipsis(at, dim, extents[dim], number)
                    order[places.ellipsis + at] = dim
                    dim += 1
            elif order[places.of[label]] == -1:
                sizes.see(label, extents[dim], number)
                order[places.of[label]] = dim
                dim += 1
            else:
                self._reduce(extents, label, number, order[places.of[label]], dim)
        for at, source in enumerate(order):
            if source == -1:
                self.inserted.append(dim)
                extents.insert(dim, 1)
                order[at] = dim
                dim += 1
        self.shape = [extents[dim] for dim in order]

    def _reduce(self, extents: list[int], label: str, number: int, earlier: int, dim: int) -> None:
        check(
            extents[dim] == extents[earlier],
            lambda: (
                f"einsum(): subscript {label} is repeated for operand {number} but the sizes don't match, "
                f"{extents[dim]} != {extents[earlier]}"
            ),
        )
        self.diagonals.append((earlier, dim))
        del extents[dim]

    def of(self, operand: Tensor) -> Any:
        """Return the operand in the common order."""
        for earlier, dim in self.diagonals:
            operand = aten.movedim(aten.diagonal(operand, 0, earlier, dim), -1, earlier)
        for dim in self.inserted:
            operand = aten.unsqueeze(operand, dim)
        return aten.permute(operand, self.order)


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


class _Product:
    """The product of two operands of equal rank, summed over `summed`, which keep extents of 1."""

    def __init__(self, left: Sequence[int], right: Sequence[int], summed: list[int]) -> None:
        self.summed = summed
        shared: list[int] = []
        left_only: list[int] = []
        right_only: list[int] = []
        for dim in range(len(left)):
            wide_left, wide_right = left[dim] != 1, right[dim] != 1
            if dim not in summed:
                (shared if wide_left and wide_right else left_only if wide_left else right_only).append(dim)
        sizes = self.left_sizes = [math.prod(left[dim] for dim in dims) for dims in (shared, left_only, summed)]
        self.right_sizes = [sizes[0], sizes[2], math.prod(right[dim] for dim in right_only)]
        self.shape = [
            *(left[dim] for dim in (*shared, *left_only)),
            *(1 for _ in summed),
            *(right[dim] for dim in right_only),
        ]
        self.left_order = [*shared, *left_only, *summed, *right_only]
        self.right_order = [*shared, *summed, *right_only, *left_only]
        self.inverse = [0] * len(self.left_order)
        for at, dim in enumerate(self.left_order):
            self.inverse[dim] = at

    def of(self, left: Tensor, right: Tensor) -> Any:
        """Return the product."""
        if not self.summed:
            return aten.mul(left, right)
        matrices = aten.reshape(aten.permute(left, self.left_order), self.left_sizes)
        others = aten.reshape(aten.permute(right, self.right_order), self.right_sizes)
        return aten.permute(aten.view(aten.bmm(matrices, others), self.shape), self.inverse)


class _Contraction:
    """Two operands are taken out, what no other operand has is summed, and their product put back."""

    def __init__(
        self, pending: deque[list[int]], places: tuple[int, int], summed: range, counts: list[int], last: bool
    ) -> None:
        self.first, self.second = places
        self.last = last
        right, left = list(pending[self.second]), list(pending[self.first])
        del pending[self.second], pending[self.first]
        both: list[int] = []
        self.alone: tuple[list[int], list[int]] = ([], [])
        for dim in summed:
            wide = (left[dim] != 1, right[dim] != 1)
            if all(wide):
                counts[dim] -= 1
                if counts[dim] == 1:
                    both.append(dim)
                    counts[dim] = 0
            elif counts[dim] == 1 and any(wide):
                self.alone[0 if wide[0] else 1].append(dim)
                (left if wide[0] else right)[dim] = 1
                counts[dim] = 0
        self.product = _Product(left, right, both)
        shape = [
            1 if dim in both else one if other == 1 else other
            for dim, (one, other) in enumerate(zip(left, right, strict=True))
        ]
        pending.append(shape) if last else pending.appendleft(shape)

    def run(self, pending: deque[Any]) -> None:
        """Contract two of the operands."""
        right, left = pending[self.second], pending[self.first]
        del pending[self.second], pending[self.first]
        left = aten.sum(left, self.alone[0], True) if self.alone[0] else left
        right = aten.sum(right, self.alone[1], True) if self.alone[1] else right
        result = self.product.of(left, right)
        pending.append(result) if self.last else pending.appendleft(result)


class _Plan:
    """What becomes of operands of these shapes."""

    def __init__(self, equation: str, shapes: tuple[tuple[int, ...], ...], path: tuple[int, ...] | None) -> None:
        labels = parse_inputs(equation.partition("->")[0], len(shapes))
        counts, covered = count_labels(labels, shapes)
        places = Places(equation, counts, covered)
        sizes = Sizes(places)
        self.alignments = [
            _Alignment(shape, given, at, places, sizes)
            for at, (shape, given) in enumerate(zip(shapes, labels, strict=True))
        ]
        self.contractions: list[_Contraction] = []
        pending = deque(one.shape for one in self.alignments)
        steps = deque(path) if path is not None else None
        summed = range(places.kept, places.total)
        while len(pending) > 1:
            pair = _next_pair(steps, len(pending))
            self.contractions.append(_Contraction(pending, pair, summed, sizes.counts, steps is not None))
        self.kept = pending[0][: places.kept]
        self.summed = list(summed)


_planned = lru_cache(1024)(_Plan)


def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None = None) -> Any:
    """Sum of products by labels; operands are contracted left to right, or along `path`."""
    check(bool(tensors), lambda: "einsum(): must provide at least one operand")
    if path is not None:
        _check_path(path, len(tensors))
    plan = _planned(
        equation, tuple([tuple(tensor.shape) for tensor in tensors]), tuple(path) if path is not None else None
    )
    pending = deque([alignment.of(tensor) for alignment, tensor in zip(plan.alignments, tensors, strict=True)])
    for contraction in plan.contractions:
        contraction.run(pending)
    if not plan.summed:
        return pending[0]
    return aten.view(pending[0], plan.kept) if plan.contractions else aten.sum(pending[0], plan.summed)


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
            left = aten.sum(left, [first], True, dtype=left.dtype)
        elif size1 == 1:
            right = aten.sum(right, [second], True, dtype=right.dtype)
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
        products = aten.mul(aten.squeeze(left), aten.squeeze(right))
        return aten.reshape(aten.sum(products, dtype=products.dtype), shape)
    rows = math.prod(shape[: len(left_kept)])
    columns = math.prod(shape[len(left_kept) :])
    return aten.reshape(aten.mm(aten.reshape(left, [rows, inner]), aten.reshape(right, [inner, columns])), shape)


def inner_apart(self: Spec, other: Spec) -> Apart:
    """A product with a number is written to `out=` by itself."""
    return ANYWHERE if self.ndim and other.ndim else ELEMENTWISE


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
