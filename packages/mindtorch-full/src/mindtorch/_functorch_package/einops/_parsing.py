"""`functorch.einops._parsing`: patterns of axes as lists of names."""

from mindtorch.func._axes import AnonymousAxis as AnonymousAxis
from mindtorch.func._axes import ParsedExpression as ParsedExpression
from mindtorch.func._axes import _ellipsis as _ellipsis
from mindtorch.func._axes import comma_separate as comma_separate
from mindtorch.func._axes import parse_pattern as parse_pattern
from mindtorch.func._axes import validate_rearrange_expressions as validate_rearrange_expressions
