"""Running sums, products and extremes; differences and integrals."""

from ..decomp import cumulative as composed
from ..meta import cumulative as rules
from ..meta.packs import pack
from ..table import CORE, op

op("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", rules.running_sum("cumsum"), tags={CORE})
op("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", rules.running_sum("cumprod"), tags={CORE})
for _name in ("cummax", "cummin"):
    op(
        f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        rules.running(_name),
        pack=pack(_name, "values indices"),
    )
op(
    "cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor",
    composite=composed.cumprod_backward,
    variants="",
)
op(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    composite=composed.diff,
    out=True,
)
for _name in ("trapezoid", "trapz", "cumulative_trapezoid"):
    _number = "float dx=1." if _name == "trapz" else "Scalar dx=1"
    _function = composed.cumulative_trapezoid if _name == "cumulative_trapezoid" else composed.trapezoid
    op(f"{_name}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", composite=_function, variants="function")
    op(f"{_name}.dx(Tensor y, *, {_number}, int dim=-1) -> Tensor", composite=_function, variants="function")
_EDGE = "int edge_order=1"
op(
    f"gradient.array(Tensor self, *, int[] dim, {_EDGE}) -> Tensor[]",
    composite=composed.gradient_unit,
    variants="function",
)
op(
    f"gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, {_EDGE}) -> Tensor[]",
    composite=composed.gradient,
    variants="function",
)
op(
    f"gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, {_EDGE}) -> Tensor[]",
    composite=composed.gradient,
    variants="function",
)
for _name, _kind, _dim in (
    ("scalarrayint", "Scalar[]", "int? dim=None"),
    ("scalarrayarray", "Scalar[]", "int[] dim"),
    ("tensorarrayint", "Tensor[]", "int? dim=None"),
    ("tensorarray", "Tensor[]", "int[] dim"),
):
    op(
        f"gradient.{_name}(Tensor self, *, {_kind} spacing, {_dim}, {_EDGE}) -> Tensor[]",
        composite=composed.gradient,
        variants="function",
    )
