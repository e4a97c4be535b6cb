"""Random ops: refused, the same for all examples, or different for each, as the batch says."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import batched, front, index_of, is_tensor, padded, rank
from ...batching.levels import Batch
from ...batching.steps import invoke
from ...call import aten
from ...table import OpRow
from .table import RANDOM, rule

_REFUSED = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)
_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
_UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If "
    "this is necessary for your usage, please file an issue with functorch."
)


def _check(batch: Batch) -> bool:
    """Return whether examples differ; torch's error where random ops are refused."""
    if batch.randomness == "error":
        raise RuntimeError(_REFUSED)
    return batch.randomness == "different"


def check_loop(randomness: str | None) -> None:
    """Raise torch's errors for a random op inside a loop over the slices of a batch."""
    if randomness == "error":
        raise RuntimeError(_REFUSED)
    if randomness == "same":
        raise RuntimeError(_SAME)


@rule(
    "rand", "rand.generator", "randn", "randn.generator", "randint", "randint.generator", "randint.low",
    "randint.low_generator", "normal.float_float", kind=RANDOM,
)  # fmt: skip
def factory(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Random tensors of a given size."""
    if not _check(batch):
        return invoke(row, values), None
    made = list(values)
    at = index_of(row, "size")
    made[at] = [batch.size, *values[at]]
    return invoke(row, made), 0


@rule("randperm", "randperm.generator", kind=RANDOM)
def randperm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`randperm`."""
    if not _check(batch):
        return invoke(row, values), None
    return aten.stack([invoke(row, values) for _ in range(batch.size)]), 0


@rule(
    "rand_like", "rand_like.generator", "randn_like", "randn_like.generator", "randint_like", "randint_like.low_dtype",
    "randint_like.generator", "randint_like.low_generator_dtype", "bernoulli.p", kind=RANDOM,
)  # fmt: skip
def like(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Random tensors after the pattern of another; its values do not matter."""
    self, dim = values[0], dims[0]
    if _check(batch):
        return invoke(row, [batched(self, dim, batch.size), *values[1:]]), 0
    return invoke(row, [self if dim is None else aten.select(self, dim, 0), *values[1:]]), None


@rule(
    "bernoulli", "bernoulli.Tensor", "poisson", "binomial", "_standard_gamma", "_sample_dirichlet",
    "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", kind=RANDOM,
)  # fmt: skip
def of_values(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Random tensors whose distribution is given element by element."""
    if not _check(batch):
        if any(dim is not None for dim in dims):
            raise RuntimeError(_SAME)
        return invoke(row, values), None
    most = max(rank(value, dim) for value, dim in zip(values, dims, strict=True) if is_tensor(value))
    made = [
        padded(batched(value, dim, batch.size), most) if is_tensor(value) else value
        for value, dim in zip(values, dims, strict=True)
    ]
    return invoke(row, made), 0


@rule("multinomial", kind=RANDOM)
def multinomial(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`multinomial`: the rows of all examples in one call."""
    if not _check(batch):
        if dims[0] is not None:
            raise RuntimeError(_SAME)
        return invoke(row, values), None
    self = batched(values[0], dims[0], batch.size)
    if self.dim() != 3:
        return invoke(row, [self, *values[1:]]), 0
    made = invoke(row, [aten.reshape(self, [-1, self.shape[2]]), *values[1:]])
    return aten.reshape(made, [batch.size, -1, made.shape[1]]), 0


@rule(
    "uniform_", "normal_", "exponential_", "geometric_", "cauchy_", "log_normal_", "random_.from", "random_.to", "random_",
    "bernoulli_.float", "bernoulli_.Tensor", kind=RANDOM,
)  # fmt: skip
def fill(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Fills in place."""
    different = _check(batch)
    target, dim = values[0], dims[0]
    parameters = [place for place, value in enumerate(values) if place and is_tensor(value)]
    if different:
        if dim is None:
            raise RuntimeError(_UNBATCHED)
        made = list(values)
        made[0] = front(target, dim)
        for place in parameters:
            if dims[place] is not None:
                made[place] = padded(front(values[place], dims[place]), made[0].dim() - 1)
        invoke(row, made)
        return target, dim
    if any(dims[place] is not None for place in parameters):
        raise RuntimeError(_SAME)
    if dim is None:
        return invoke(row, values), None
    one = aten.empty_like(aten.select(target, dim, 0))
    invoke(row, [one, *values[1:]])
    aten.copy_(front(target, dim), one)
    return target, dim
