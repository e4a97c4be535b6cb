"""Softmax and sums of exponentials."""

from ..decomp import softmax as composed
from ..meta import softmax as rules
from ..table import CORE, op

op(
    "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    rules.softmax("softmax"),
    variants="function",
    tags={CORE},
)
op(
    "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    rules.softmax("log_softmax"),
    variants="function",
    tags={CORE},
)
op(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    rules.backward_data("softmax"),
    variants="function",
)
op(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    rules.backward_data("log_softmax"),
    variants="function",
)
op(
    "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    rules.safe_softmax,
    variants="function",
    out=False,
)
op("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", rules.logsumexp)
op("logcumsumexp(Tensor self, int dim) -> Tensor", rules.logcumsumexp)

op("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", composite=composed.softmax, out=True)
op("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", composite=composed.log_softmax, out=True)
op(
    "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    composite=composed.softmax,
    variants="function",
)
op(
    "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    composite=composed.log_softmax,
    variants="function",
)
op(
    "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    composite=composed.logsumexp,
    variants="function",
    out=True,
)
op(
    "_masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None) -> Tensor",
    composite=composed.masked_softmax_backward,
    variants="",
)
op(
    "_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor",
    composite=composed.masked_softmax,
    variants="function",
    out=True,
)
