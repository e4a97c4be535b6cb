"""Elementwise arithmetic rows."""

from ..meta.pointwise import pointwise
from ..table import CORE, op

op("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", meta=pointwise(operands=(0, 1)), tags={CORE})
op("mul.Tensor(Tensor self, Tensor other) -> Tensor", meta=pointwise(), tags={CORE})
