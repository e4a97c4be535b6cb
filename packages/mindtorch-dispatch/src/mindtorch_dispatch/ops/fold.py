"""Sliding blocks as columns, and columns summed back."""

from ..meta import fold as rules
from ..table import op

_WINDOW = "int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride"

op(f"im2col(Tensor self, {_WINDOW}) -> Tensor", rules.im2col, variants="nn")
op(f"col2im(Tensor self, SymInt[2] output_size, {_WINDOW}) -> Tensor", rules.col2im, variants="nn")
