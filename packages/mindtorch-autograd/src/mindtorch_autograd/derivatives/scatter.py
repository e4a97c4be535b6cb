"""Gathering, scattering and reducing into place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Tensor

from ..delayed_error import not_again
from ..derivative import derivative, joint
from .view import zeros_of


def scatter_self(grad: Tensor, dim: int, index: Tensor) -> Any:
    """The gradient, zero where values were written."""
    return aten.scatter(grad, dim, index, 0)


class Placement:
    """How an op reads from and writes to the places it reduces into: `scatter_reduce` by element, `index_reduce` by row."""

    def __init__(
        self,
        read: Callable[..., Any],
        add: Callable[..., Any],
        clear: Callable[..., Any],
        op: Callable[..., Any],
        names: tuple[str, str],
    ) -> None:
        self.read = read
        self.add = add
        self.clear = clear
        self.op = op
        name, source = names
        self.twice = (
            f"{name}(): Double backward is unsupported for {source} when >1 zeros in {source} are scattered to the same "
            "position in self"
        )


ELEMENTS = Placement(
    lambda x, dim, index: aten.gather(x, dim, index),
    lambda x, dim, index, values: aten.scatter_add(x, dim, index, values),
    lambda x, dim, index: aten.scatter(x, dim, index, 0),
    lambda *values: aten.scatter_reduce(*values[:-1], include_self=values[-1]),
    ("scatter_reduce", "src"),
)
ROWS = Placement(
    lambda x, dim, index: aten.index_select(x, dim, index),
    lambda x, dim, index, values: aten.index_add(x, dim, index, values),
    lambda x, dim, index: aten.index_fill(x, dim, index, 0),
    lambda *values: aten.index_reduce(*values[:-1], include_self=values[-1]),
    ("index_reduce", "source"),
)


def _extremum(
    at: Placement, grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, result: Tensor
) -> tuple[Any, Any]:
    """The gradient shared evenly by every element that equals the result."""
    own = (self == result).to(grad.dtype)
    given = (src == at.read(result, dim, index)).to(grad.dtype)
    share = grad / at.add(own, dim, index, given)
    return own * share, given * at.read(share, dim, index)


def _mean(at: Placement, grad: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> tuple[Any, Any]:
    count = aten.ones_like(grad) if include_self else aten.zeros_like(grad)
    count = at.add(count, dim, index, aten.ones_like(src))
    count = aten.masked_fill(count, count == 0, 1)
    share = grad / count
    return share, at.read(share, dim, index)


def _product(
    at: Placement, grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, result: Tensor, include_self: bool
) -> tuple[Any, Any]:
    """The result divided by each factor; where one factor alone is zero, the product of the others."""
    filled = aten.masked_fill(self, self == 0, 1)
    others = at.op(filled, dim, index, src, "prod", include_self)
    own = grad * others / filled
    zero = src == 0
    zeros = at.read(at.add(aten.zeros_like(self), dim, index, zero.to(self.dtype)), dim, index)
    alone = aten.logical_and(zero, zeros == 1)
    without = at.op(self, dim, index, aten.masked_fill(src, alone, 1), "prod", include_self)
    usual = at.read(grad * result, dim, index) / aten.masked_fill(src, zero, 1)
    given = aten.where(alone, at.read(grad * without, dim, index), usual)
    if state.mode.grad and not zeros._wraps and bool(aten.any(zeros > 1)):  # a batch cannot be asked
        (given,) = not_again((given,), (given,), at.twice)
    return own, given


def _reduction(at: Placement, source: str) -> Any:
    def grads(
        grad: Tensor,
        self: Tensor,
        dim: int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        include_self: bool,
        result: Tensor,
    ) -> tuple[Any, Any]:
        if reduce == "sum":
            own, given = grad, at.read(grad, dim, index)
        elif reduce == "mean":
            own, given = _mean(at, grad, dim, index, src, include_self)
        elif reduce == "prod":
            own, given = _product(at, grad, self, dim, index, src, result, include_self)
        else:
            own, given = _extremum(at, grad, self, dim, index, src, result)
        return own if include_self else at.clear(own, dim, index), given

    def with_source(
        grad: Tensor,
        self: Tensor,
        dim: int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        include_self: bool,
        result: Tensor,
    ) -> tuple[Any, Any]:
        return grads(grad, self, dim, index, source, reduce, include_self, result)

    return joint("self", source)(grads if source == "src" else with_source)


derivative(
    "gather",
    self=lambda grad, self_spec, dim, index: aten.scatter_add(zeros_of(grad, self_spec), dim, index, grad),
)
derivative("scatter.src", self=scatter_self, src=lambda grad, dim, index: aten.gather(grad, dim, index))
derivative("scatter.value", self=scatter_self, node="ScatterBackward1")
derivative("scatter_add", self=lambda grad: grad, src=lambda grad, dim, index: aten.gather(grad, dim, index))
derivative("scatter_reduce.two", _reduction(ELEMENTS, "src"))
derivative("index_reduce", _reduction(ROWS, "source"))
