"""Functions of square matrices."""

from ..decomp import matrix_function as composed
from ..meta import matrix_function as rules
from ..table import op

op("linalg_matrix_exp(Tensor self) -> Tensor", rules.matrix_exp, variants="function")
op("matrix_exp(Tensor self) -> Tensor", composite=composed.matrix_exp)
op("trace(Tensor self) -> Tensor", rules.trace)
op("trace_backward(Tensor grad, SymInt[] sizes) -> Tensor", composite=composed.trace_backward, variants="")
op("linalg_matrix_power(Tensor self, int n) -> Tensor", composite=composed.matrix_power, variants="function", out=True)
op("matrix_power(Tensor self, int n) -> Tensor", composite=composed.matrix_power, out=True)
op(
    "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    composite=composed.diagonal,
    variants="function",
)
op(
    "_compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor",
    composite=composed.linear_combination,
    variants="function",
)
op(
    "_compute_linear_combination.out(Tensor input, Tensor coefficients, *, Tensor(a!) out) -> Tensor(a!)",
    composite=composed.add_linear_combination,
    variants="function",
)
