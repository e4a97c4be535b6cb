"""Assertions about values and ranges, which graphs keep for their effect: ops that return nothing, or a token."""

from ..decomp import assertions as composed
from ..table import op

op("_assert_async(Tensor self) -> ()", composite=composed.assert_nonzero, variants="")
op("_assert_async.msg(Tensor self, str assert_msg) -> ()", composite=composed.assert_nonzero, variants="")
op(
    "_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor",
    composite=composed.functional_assert_nonzero,
    variants="function",
)
op("_assert_scalar(Scalar self, str assert_msg) -> ()", composite=composed.assert_scalar, variants="function")
op(
    "_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor",
    composite=composed.functional_assert_scalar,
    variants="function",
)
op(
    "_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, "
    "Device? device=None, Layout? layout=None) -> ()",
    composite=composed.assert_tensor_metadata,
    variants="",
)
for _name, _composed in (
    ("sym_constrain_range", composed.constrain_range),
    ("sym_constrain_range_for_size", composed.constrain_range_for_size),
):
    op(f"{_name}(Scalar size, *, int? min=None, int? max=None) -> ()", composite=_composed, variants="function")
op("_shape_as_tensor(Tensor self) -> Tensor", composite=composed.shape_as_tensor, variants="")
op("_print(str s) -> ()", composite=composed.printed, variants="function")
