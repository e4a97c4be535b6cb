"""Differences and integrals composed of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import uint8
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check, shape_text, wrap_dim
from ..state import state
from ..typing import Tensor, TensorOrScalar


def cumprod_backward(grad: Tensor, self: Tensor, dim: int, output: Tensor) -> Any:
    """Gradient of `cumprod`, right where elements are zero and differentiable again."""
    if self.numel() <= 1:
        return grad
    dim = wrap_dim(dim, self.ndim)
    if self.size(dim) == 1:
        return aten.clone(grad)
    conjugate, weighted = aten.conj_physical(self), aten.mul(aten.conj_physical(output), grad)
    zero = aten.eq(self, 0)
    if not zero._wraps and not bool(aten.any(zero).item()):  # a batch cannot be asked
        return aten.div(_reversed_cumsum(weighted, dim), conjugate)
    if zero._wraps or ((grad._sig.requires_grad or self._sig.requires_grad) and state.mode.grad):
        return _cumprod_columns(grad, self, dim)
    return _cumprod_at_zeros(grad, conjugate, weighted, zero, dim)


def _reversed_cumsum(self: Tensor, dim: int) -> Any:
    return aten.flip(aten.cumsum(aten.flip(self, [dim]), dim), [dim])


def _cumprod_at_zeros(grad: Tensor, conjugate: Tensor, weighted: Tensor, zero: Tensor, dim: int) -> Any:
    """The gradient where nobody asks for another: elements after the first zero have none, whatever the products hold."""
    zeros = aten.cumsum(zero, dim)
    before, between = aten.eq(zeros, 0), aten.eq(zeros, 1)
    first = aten.logical_and(between, zero)
    none, ones = aten.zeros_like(conjugate), aten.ones_like(conjugate)
    earlier = aten.div(_reversed_cumsum(aten.where(before, weighted, none), dim), conjugate)
    later = aten.cumprod(aten.where(aten.logical_xor(between, first), conjugate, ones), dim)
    summed = aten.sum(aten.where(between, aten.mul(later, grad), none), dim, True)
    at_first = aten.mul(summed, aten.prod(aten.where(before, conjugate, ones), dim, True))
    return aten.where(before, earlier, aten.where(first, at_first, none))


def _cumprod_columns(grad: Tensor, self: Tensor, dim: int) -> Any:
    extent = self.size(dim)
    columns = []
    for index in range(extent):
        before = aten.prod(aten.narrow(self, dim, 0, index), dim, True)
        if index + 1 < extent:
            after = aten.cumprod(aten.narrow(self, dim, index + 1, extent - index - 1), dim)
            products = aten.cat([before, aten.mul(before, after)], dim)
        else:
            products = before
        rest = aten.narrow(grad, dim, index, extent - index)
        columns.append(aten.sum(aten.mul(rest, aten.conj_physical(products)), dim, True))
    return aten.cat(columns, dim)


def _check_diff_piece(self: Tensor, piece: Tensor | None, dim: int) -> None:
    if piece is None:
        return
    if piece.ndim != self.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for index in range(piece.ndim):
        if index != dim and piece.size(index) != self.size(index):
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({index}) = {self.size(index)}, but got tensor.size({index}) = "
                f"{piece.size(index)}"
            )


def _joined(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> tuple[Any, int, int]:
    """Return the pieces that `diff` takes differences of, joined; the dimension; and how often it takes them."""
    if self.ndim < 1:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    wrapped = wrap_dim(dim, self.ndim)
    _check_diff_piece(self, prepend, wrapped)
    _check_diff_piece(self, append, wrapped)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n and (prepend is not None or append is not None):
        self = aten.cat([piece for piece in (prepend, self, append) if piece is not None], wrapped)
    return self, wrapped, min(n, self.size(wrapped))


def _difference(self: Tensor, dim: int, **out: Tensor) -> Any:
    count = self.size(dim) - 1
    later, earlier = aten.narrow(self, dim, 1, count), aten.narrow(self, dim, 0, count)
    return (aten.logical_xor if self.dtype is bool_dtype else aten.sub)(later, earlier, **out)


def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Any:
    """Differences of neighbours along `dim`, n times."""
    joined, dim, times = _joined(self, n, dim, prepend, append)
    if n == 0:
        return aten.copy_(aten.zeros_like(self), self)
    for _ in range(times):
        joined = _difference(joined, dim)
    return joined


def _diff_into(out: Tensor, self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """`diff` whose last difference is written to `out`, by the function that makes it and with its checks."""
    joined, dim, times = _joined(self, n, dim, prepend, append)
    if n == 0:
        check(
            out.dtype is self.dtype,
            lambda: f"expected scalar_type {self.dtype.scalar_name} but found {out.dtype.scalar_name}",
        )
        aten.copy_(out.resize_(list(self.shape)), self)
        return out
    check(joined.size(dim) > 0, lambda: "start out of range (expected to be in range of [0, 0], but got 1)", IndexError)
    for _ in range(times - 1):
        joined = _difference(joined, dim)
    _difference(joined, dim, out=out)
    return out


diff.into = _diff_into  # type: ignore[attr-defined]  # what `compose` asks for


def _halves(y: Tensor | None, dim: int) -> tuple[Any, Any]:
    return aten.slice(y, dim, 0, -1), aten.slice(y, dim, 1)


def _steps(y: Tensor, x: Tensor, dim: int, name: str) -> Any:
    """Return the distances between sample points, shaped to multiply slices of `y`."""
    if x.ndim == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = [1] * y.ndim
        shape[dim] = x.size(0)
        x = aten.view(x, shape)
        return aten.sub(*reversed(_halves(x, dim)))
    if x.ndim < y.ndim:
        x = aten.view(x, [1] * (y.ndim - x.ndim) + list(x.shape))
    return aten.sub(*reversed(_halves(x, dim)))


def _no_bool(name: str, y: Tensor, x: Tensor | None = None) -> None:
    if y.dtype is bool_dtype or (x is not None and x.dtype is bool_dtype):
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")


def _check_step(name: str, dx: complex) -> None:
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def trapezoid(y: Tensor, x: TensorOrScalar, dim: int) -> Any:
    """Integral by the trapezoidal rule; `x` is sample points or the distance between them."""
    wrapped = wrap_dim(dim, y.ndim)
    if not isinstance(x, TensorBase):
        _check_step("trapezoid", x)
        if y.size(wrapped) == 0:
            return aten.zeros(
                [extent for index, extent in enumerate(y.shape) if index != wrapped], dtype=y.dtype, device=y.device
            )
        _no_bool("trapezoid", y)
        ends = aten.add(aten.select(y, wrapped, 0), aten.select(y, wrapped, -1))
        return aten.mul.Scalar(aten.sub(aten.sum(y, wrapped), aten.mul.Scalar(ends, 0.5)), x)
    _no_bool("trapezoid", y, x)
    if y.size(wrapped) == 0:
        return aten.zeros(
            [extent for index, extent in enumerate(y.shape) if index != wrapped], dtype=y.dtype, device=y.device
        )
    left, right = _halves(y, wrapped)
    total = aten.sum(aten.mul(_steps(y, x, wrapped, "trapezoid"), aten.add(left, right)), wrapped)
    return aten.div.Scalar(total, 2.0)


def cumulative_trapezoid(y: Tensor, x: TensorOrScalar, dim: int) -> Any:
    """Running integral by the trapezoidal rule."""
    wrapped = wrap_dim(dim, y.ndim)
    left, right = _halves(y, wrapped)
    if not isinstance(x, TensorBase):
        _check_step("cumulative_trapezoid", x)
        _no_bool("cumulative_trapezoid", y)
        return aten.cumsum(aten.mul.Scalar(aten.add(right, left), x / 2.0), wrapped)
    _no_bool("cumulative_trapezoid", y, x)
    steps = _steps(y, x, wrapped, "cumulative_trapezoid")
    return aten.div.Scalar(aten.cumsum(aten.mul(steps, aten.add(left, right)), wrapped), 2.0)


def gradient_unit(self: Tensor, dim: Sequence[int], edge_order: int) -> tuple[Any, ...]:
    """`gradient` with unit spacing."""
    return gradient(self, None, dim, edge_order)


def gradient(self: Any, spacing: Any, dim: Any, edge_order: int) -> tuple[Any, ...]:
    """Central differences along dims; `spacing` is a number, one per dim, or coordinates per dim."""
    dims = list(range(self.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    many = isinstance(spacing, (list, tuple))
    if many and isinstance(dim, int) and len(spacing) == 1:
        dims = [dim]
    _check_gradient(self, spacing if many else None, dims, edge_order)
    steps: Sequence[Any] = spacing if many else [1 if spacing is None else spacing] * len(dims)
    found = []
    for step, one in zip(steps, dims, strict=True):
        axis = wrap_dim(one, self.ndim)
        make: Callable[..., Any] = _gradient_coordinates if isinstance(step, TensorBase) else _gradient_uniform
        found.append(make(self, step, axis, edge_order))
    return tuple(found)


def _check_gradient(self: Any, spacing: Any, dims: list[int], edge_order: int) -> None:
    if self.dtype is uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if spacing is not None and len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
            f"{len(dims)}."
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for step in spacing or ():
        if isinstance(step, TensorBase) and step.device != self.device:
            raise RuntimeError(
                "torch.gradient expected each tensor to be on the same device, but got devices "
                f"{self.device} and {step.device}!"
            )
    wrapped = [wrap_dim(one, self.ndim) for one in dims]
    for index, one in enumerate(wrapped):
        if one in wrapped[:index]:
            raise RuntimeError(f"dim {one} appears multiple times in the list of dims")
        if self.size(one) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")


def _slices(self: Tensor, axis: int, *bounds: tuple[int, int]) -> list[Any]:
    return [aten.narrow(self, axis, start, count) for start, count in bounds]


def _gradient_uniform(self: Tensor, step: float, axis: int, edge_order: int) -> Any:
    extent = self.size(axis)
    before, after = _slices(self, axis, (0, extent - 2), (2, extent - 2))
    center = aten.div(aten.sub(after, before), 2 * step)
    first, second, last, beside = _slices(self, axis, (0, 1), (1, 1), (extent - 1, 1), (extent - 2, 1))
    if edge_order == 1:
        head, tail = aten.div(aten.sub(second, first), step), aten.div(aten.sub(last, beside), step)
    else:
        third, inner = _slices(self, axis, (2, 1), (extent - 3, 1))
        head = aten.div(aten.sub(aten.sub(aten.mul(second, 4), aten.mul(first, 3)), third), 2 * step)
        tail = aten.div(aten.add(aten.sub(aten.mul(last, 3), aten.mul(beside, 4)), inner), 2 * step)
    return aten.cat([head, center, tail], axis)


def _gradient_coordinates(self: Tensor, points: Any, axis: int, edge_order: int) -> Any:
    extent = self.size(axis)
    if points.ndim != 1 or points.size(0) != extent:
        raise RuntimeError(
            "torch.gradient expected spacing tensors to have one coordinate per element, got "
            f"{shape_text(points.shape)}"
        )
    shape = [1] * self.ndim
    shape[axis] = -1
    gaps = aten.sub(*reversed(_halves(points, 0)))
    near = aten.reshape(aten.narrow(gaps, 0, 0, extent - 2), shape)
    far = aten.reshape(aten.narrow(gaps, 0, 1, extent - 2), shape)
    weights = (
        aten.div(aten.neg(far), aten.mul(near, aten.add(near, far))),
        aten.div(aten.sub(far, near), aten.mul(near, far)),
        aten.div(near, aten.mul(far, aten.add(near, far))),
    )
    pieces = _slices(self, axis, (0, extent - 2), (1, extent - 2), (2, extent - 2))
    terms = [aten.mul(weight, piece) for weight, piece in zip(weights, pieces, strict=True)]
    center = aten.add(aten.add(terms[0], terms[1]), terms[2])
    head, tail = _gradient_edges(self, gaps, axis, edge_order)
    return aten.cat([head, center, tail], axis)


def _gradient_edges(self: Tensor, gaps: object, axis: int, edge_order: int) -> tuple[Any, Any]:
    extent = self.size(axis)
    first, second, last, beside = _slices(self, axis, (0, 1), (1, 1), (extent - 1, 1), (extent - 2, 1))
    start, end = aten.select(gaps, 0, 0), aten.select(gaps, 0, -1)
    if edge_order == 1:
        return aten.div(aten.sub(second, first), start), aten.div(aten.sub(last, beside), end)
    third, inner = _slices(self, axis, (2, 1), (extent - 3, 1))
    next_start, next_end = aten.select(gaps, 0, 1), aten.select(gaps, 0, -2)
    head = _edge(first, second, third, start, next_start)
    tail = _edge(last, beside, inner, end, next_end)
    return head, aten.neg(tail)


def _edge(outer: object, middle: object, inner: object, near: object, far: object) -> Any:
    """One-sided difference of second order from the outer point inwards."""
    total = aten.add(near, far)
    outer_weight = aten.div(aten.neg(aten.add(aten.mul(near, 2), far)), aten.mul(near, total))
    middle_weight = aten.div(total, aten.mul(near, far))
    inner_weight = aten.div(aten.neg(near), aten.mul(far, total))
    terms = aten.add(aten.mul(outer, outer_weight), aten.mul(middle, middle_weight))
    return aten.add(terms, aten.mul(inner, inner_weight))
