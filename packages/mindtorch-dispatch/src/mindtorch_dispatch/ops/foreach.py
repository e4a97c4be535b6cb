"""Ops over lists of tensors. Each name stands for a family of overloads, derived from the op on one tensor."""

from ..decomp import foreach as each
from ..table import op

_UNARY = (
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
)

# Name of the family, elementwise op behind it, whether a list takes `alpha`, whether one 0-d tensor may be given.
_BINARY = (
    ("add", "add", True, True),
    ("sub", "sub", True, False),
    ("mul", "mul", False, True),
    ("div", "div", False, True),
    ("clamp_max", "clamp_max", False, False),
    ("clamp_min", "clamp_min", False, False),
    ("maximum", "maximum", False, False),
    ("minimum", "minimum", False, False),
    ("pow", "pow", False, False),
)


def _rows(name: str, arguments: str, make: each.Each, *made_of: str) -> None:
    """Declare the functional and the in-place overload `name` whose arguments after the list are `arguments`."""
    packet, dot, overload = name.partition(".")
    rest = f", {arguments}" if arguments else ""
    op(
        f"_foreach_{name}(Tensor[] self{rest}) -> Tensor[]",
        composite=make(*made_of),
        variants="function",
    )
    op(
        f"_foreach_{packet}_{dot}{overload}(Tensor(a!)[] self{rest}) -> ()",
        composite=make(*made_of, inplace=True),
        variants="function",
    )


for _name in _UNARY:
    _rows(_name, "", each.unary, _name)

for _name, _op, _alpha, _tensor in _BINARY:
    _other, _scalars = ("exponent", "exponent") if _name == "pow" else ("other", "scalars")
    _scale = ", *, Scalar alpha=1" if _alpha else ""
    _rows(f"{_name}.Scalar", f"Scalar {'exponent' if _name == 'pow' else 'scalar'}", each.by_scalar, _op)
    _rows(f"{_name}.List", f"Tensor[] {_other}{_scale}", each.by_list, _op)
    _rows(f"{_name}.ScalarList", f"Scalar[] {_scalars}", each.by_scalars, _op)
    if _tensor:
        _rows(f"{_name}.Tensor", f"Tensor other{_scale}", each.by_tensor, _op)

for _name in ("addcdiv", "addcmul"):
    _lists = "Tensor[] tensor1, Tensor[] tensor2"
    _rows(f"{_name}.Scalar", f"{_lists}, Scalar value=1", each.pointwise_by_scalar, _name)
    _rows(f"{_name}.ScalarList", f"{_lists}, Scalar[] scalars", each.pointwise_by_scalars, _name)
    _rows(f"{_name}.Tensor", f"{_lists}, Tensor scalars", each.pointwise_by_tensor, _name)

_rows("lerp.List", "Tensor[] tensors1, Tensor[] weights", each.lerp_by_list)
_rows("lerp.Scalar", "Tensor[] tensors1, Scalar weight", each.lerp_by_scalar)
_rows("lerp.ScalarList", "Tensor[] tensors1, Scalar[] weight", each.lerp_by_scalars)

op(
    "_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
    composite=each.scalar_to_powers,
    variants="function",
)
op(
    "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    composite=each.norm,
    variants="function",
)
op(
    "_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    composite=each.powsum,
    variants="function",
)
op("_foreach_max(Tensor[] self) -> Tensor[]", composite=each.unary("max"), variants="function")
op("_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]", composite=each.by_list("mm"), variants="function")
op(
    "_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]",
    composite=each.clone,
    variants="function",
)
op("_foreach_zero(Tensor[] self) -> Tensor[]", composite=each.unary("zeros_like"), variants="")
op(
    "_foreach_zero_(Tensor(a!)[] self) -> ()",
    composite=each.unary("zero", inplace=True),
    variants="function",
)
op(
    "_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[]",
    composite=each.copy,
    variants="",
)
op(
    "_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()",
    composite=each.copy_,
    variants="function",
)
