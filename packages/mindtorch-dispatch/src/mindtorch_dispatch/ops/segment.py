"""Reductions of runs of elements."""

from ..meta import segment as rules
from ..table import op

op(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, "
    "int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    rules.segment_reduce,
    variants="function",
)
op(
    "_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, "
    "Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
    rules.segment_reduce_backward,
    variants="",
)
