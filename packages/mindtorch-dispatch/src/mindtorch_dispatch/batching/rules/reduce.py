"""Ops along dimensions: reductions, softmax, running values, transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...batching.geometry import front, index_of, is_tensor, moved, place, places, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow, find_row
from ...typing import Tensor
from .table import rule


def _with_dims(result: Tensor, flat: bool) -> tuple[Any, Any]:
    """Return results with their batch dimension; an example without dimensions was given one for the op."""

    def one(value: Tensor | None) -> Any:
        return aten.squeeze(value, 1) if flat and value is not None and value.dim() > 1 else value

    if isinstance(result, (tuple, list)):
        return [one(value) for value in result], [0] * len(result)
    return one(result), 0


def along(
    row: OpRow, batch: Batch, values: list[Any], dims: list[Any], name: str = "dim", several: bool = False
) -> Any:
    """Call an op along the dimension (`several`: along those, all when none is named) that its argument `name` says."""
    at = index_of(row, name)
    ndim = max(rank(value, dim) for value, dim in zip(values, dims, strict=True) if is_tensor(value))
    made = [
        value if not is_tensor(value)
        else front(value, dim) if dim is not None
        else aten.expand(aten.unsqueeze(value, 0), [batch.size, *value.shape])
        for value, dim in zip(values, dims, strict=True)
    ]  # fmt: skip
    if not ndim:
        made = [aten.unsqueeze(value, 1) if is_tensor(value) else value for value in made]
    made[at] = places(values[at], ndim) if several else place(values[at], ndim)
    return _with_dims(invoke(row, made), not ndim)


@rule(
    "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "_softmax", "_log_softmax", "_softmax_backward_data",
    "_log_softmax_backward_data", "_safe_softmax", "all.dim", "any.dim", "max.dim", "min.dim", "median.dim",
    "nanmedian.dim", "mode", "kthvalue", "topk", "sort", "sort.stable", "prod.dim_int", "glu", "glu_backward",
)  # fmt: skip
def along_one(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops along one dimension."""
    return along(row, batch, values, dims)


@rule(
    "sum.dim_IntList", "mean.dim", "nansum", "amax", "amin", "logsumexp", "linalg_vector_norm", "std.correction",
    "var.correction", "std_mean.correction", "var_mean.correction", "_fft_c2c", "_fft_r2c",
    "_fft_c2r",
)  # fmt: skip
def along_several(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops along dimensions, all of them when none is named."""
    return along(row, batch, values, dims, several=True)


@rule("count_nonzero")
def count_nonzero(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`count_nonzero`, along one dimension or all."""
    self = front(values[0], dims[0])
    ndim = self.dim() - 1
    over = places([] if values[1] is None else [values[1]], ndim)
    return aten.count_nonzero.dim_IntList(self if ndim else aten.unsqueeze(self, 1), over), 0


@rule("count_nonzero.dim_IntList")
def count_nonzero_dims(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`count_nonzero` along dimensions."""
    return along(row, batch, values, dims, several=True)


@rule("all.dims", "any.dims")
def logical_dims(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`all` and `any` over dimensions; an empty list means none."""
    if values[1] is not None and not values[1]:
        made = aten.ne(front(values[0], dims[0]), 0)
        return made if values[0].dtype.name != "uint8" else aten.to.dtype(made, values[0].dtype), 0
    return along(row, batch, values, dims, several=True)


@rule("flip")
def flip(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`flip`."""
    if not values[1]:
        return aten.clone(values[0]), dims[0]
    return along(row, batch, values, dims, name="dims", several=True)


@rule("roll")
def roll(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`roll`; without dimensions the elements of an example go round as one sequence."""
    self, shifts, along_dims = values
    if along_dims:
        return along(row, batch, values, dims, name="dims", several=True)
    self = front(self, dims[0])
    return aten.reshape(aten.roll(aten.reshape(self, [batch.size, -1]), shifts, [1]), list(self.shape)), 0


def _by_dims(name: str) -> Callable[..., Any]:
    def whole(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
        target = find_row(name)
        assert target is not None, name
        self = front(values[0], dims[0])
        if self.dim() == 1:
            self = aten.unsqueeze(self, 1)
        given = {"self": self, "dim": list(range(1, self.dim()))}
        given |= {argument.name: value for argument, value in zip(row.schema.arguments[1:], values[1:], strict=True)}
        return invoke(target, [given.get(one.name, one.default) for one in target.schema.arguments]), 0

    whole.__doc__ = f"A reduction of whole examples, as `{name}`."
    return whole


for _whole, _dims in {
    "sum": "sum.dim_IntList", "mean": "mean.dim", "all": "all.dims", "any": "any.dims", "max": "amax", "min": "amin",
}.items():  # fmt: skip
    rule(_whole)(_by_dims(_dims))


def _sequences(value: Tensor, dim: int) -> Any:
    value = front(value, dim)
    return aten.reshape(value, [value.shape[0], -1])


@rule("prod", "median", "nanmedian")
def of_sequence(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Reductions of whole examples by the form along one dimension."""
    if row.packet == "prod":
        dtype = values[1] if len(values) > 1 else None
        return aten.prod.dim_int(_sequences(values[0], dims[0]), 1, dtype=dtype), 0
    form = aten.median if row.packet == "median" else aten.nanmedian
    return form.dim(_sequences(values[0], dims[0]), 1)[0], 0


@rule("argmax", "argmin", "aminmax")
def position(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Where extremes are, or both of them; without a dimension in the example as one sequence."""
    at = index_of(row, "dim")
    if values[at] is not None:
        return along(row, batch, values, dims)
    ndim = rank(values[0], dims[0])
    made = list(values)
    made[0], made[at] = _sequences(values[0], dims[0]), 1
    result = invoke(row, made)
    if values[index_of(row, "keepdim")]:
        shape = [batch.size, *[1] * ndim]
        if isinstance(result, (tuple, list)):
            result = [aten.reshape(one, shape) for one in result]
        else:
            result = aten.reshape(result, shape)
    return result, [0] * len(result) if isinstance(result, (tuple, list)) else 0


@rule("trace")
def trace(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`trace`."""
    return aten.sum(aten.diagonal(front(values[0], dims[0]), 0, 1, 2), [1]), 0


@rule("dist")
def dist(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`dist`: the norm of the difference."""
    self, other, order = values
    ndim = max(rank(self, dims[0]), rank(other, dims[1]))
    from_front = [
        value if dim is None else aten.reshape(front(value, dim), [batch.size, *[1] * (ndim - value.dim() + 1),
                                                                   *front(value, dim).shape[1:]])
        for value, dim in ((self, dims[0]), (other, dims[1]))
    ]  # fmt: skip
    difference = aten.sub(*from_front)
    return aten.linalg_vector_norm(aten.reshape(difference, [batch.size, -1]), order, [1]), 0


@rule("renorm")
def renorm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`renorm`: every slice of every example is one slice of a longer tensor."""
    self, order, dim, limit = values
    ndim = rank(self, dims[0])
    at = place(dim, ndim)
    lead = moved(front(self, dims[0]), at, 1)
    shape = list(lead.shape)
    made = aten.renorm(aten.reshape(lead, [shape[0] * shape[1], *shape[2:]]), order, 0, limit)
    return moved(aten.reshape(made, shape), 1, at), 0
