"""Operators that only Ascend chips have, under their namespace `npu`: others compose them."""

from collections.abc import Callable

from ..decomp import npu as composed
from ..decomp.inference import infer_attention
from ..meta import npu as rules
from ..table import op


def _npu(signature: str, *, kernel: object, composite: Callable[..., object]) -> None:
    op(f"npu::{signature}", kernel, composite=composite, inplace=False, out=False, variants="")


_npu("_npu_dropout(Tensor self, float p) -> (Tensor, Tensor)", kernel=rules.dropout, composite=composed.dropout)
_npu(
    "npu_dropout_backward(Tensor grad_output, Tensor mask, float p) -> Tensor",
    kernel=rules.dropout_backward,
    composite=composed.dropout_backward,
)
_npu(
    "npu_rms_norm(Tensor self, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)",
    kernel=rules.rms_norm,
    composite=composed.rms_norm,
)
_npu(
    "npu_rms_norm_backward(Tensor dy, Tensor self, Tensor gamma, Tensor rstd) -> (Tensor, Tensor)",
    kernel=rules.rms_norm_backward,
    composite=composed.rms_norm_backward,
)
_npu(
    "npu_add_rms_norm(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor, Tensor)",
    kernel=rules.add_rms_norm,
    composite=composed.add_rms_norm,
)
_npu("npu_swiglu(Tensor self, int dim=-1) -> Tensor", kernel=rules.swiglu, composite=composed.swiglu)
_npu(
    "npu_swiglu_backward(Tensor grad_output, Tensor self, int dim=-1) -> Tensor",
    kernel=rules.swiglu_backward,
    composite=composed.swiglu_backward,
)
_npu(
    "npu_rotary_mul(Tensor self, Tensor r1, Tensor r2, str rotary_mode='half') -> Tensor",
    kernel=rules.rotary_mul,
    composite=composed.rotary_mul,
)
_npu(
    "npu_rotary_mul_backward(Tensor grad, Tensor self, Tensor r1, Tensor r2, str rotary_mode='half') "
    "-> (Tensor, Tensor, Tensor)",
    kernel=rules.rotary_mul_backward,
    composite=composed.rotary_mul_backward,
)
_npu(
    "_npu_grouped_product(Tensor x, Tensor weight, Tensor group_list, int group_type, int group_list_type) -> Tensor",
    kernel=rules.grouped_product,
    composite=composed.grouped_product,
)
_npu(
    "_npu_dropout_mask(Tensor like, int numels, float p, int? seed=None, int? offset=None, *, "
    "Generator? generator=None) -> Tensor",
    kernel=rules.dropout_mask,
    composite=composed.dropout_mask,
)
_npu(
    "_npu_attention(Tensor query, Tensor key, Tensor value, Tensor? pse, Tensor? hidden, Tensor? kept, float scale, "
    "float keep_prob) -> (Tensor, Tensor, Tensor)",
    kernel=rules.attention,
    composite=composed.attention,
)
_npu(
    "_npu_infer_attention(Tensor query, Tensor key, Tensor value, Tensor? pse, Tensor? mask, int[]? lengths, "
    "int[]? key_lengths, Tensor? table, int heads, int key_heads, float scale, int before, int after, str layout, "
    "int mode, int block_size, bool logsumexp) -> (Tensor, Tensor)",
    kernel=rules.infer_attention,
    composite=infer_attention,
)
_npu(
    "_npu_attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? pse, Tensor? hidden, "
    "Tensor? kept, Tensor largest, Tensor sums, Tensor out, float scale, float keep_prob) -> (Tensor, Tensor, Tensor)",
    kernel=rules.attention_backward,
    composite=composed.attention_backward,
)
