"""Matrix products."""

from ..meta import matmul as rules
from ..table import CORE, op

op("mm(Tensor self, Tensor mat2) -> Tensor", rules.mm, tags={CORE})
