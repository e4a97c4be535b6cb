"""`torch_npu.npu_*` and `torch.ops.npu.*`: the operators that public models call, over those of `torch`."""

from mindtorch._ops import ops
from mindtorch._torch_npu._absent import placeholders
from mindtorch._torch_npu._operator import SCHEMAS
from mindtorch._torch_npu.operators import (
    activation,
    attention,
    backward,
    boxes,
    caches,
    delta_rule,
    dequantize,
    gradients,
    hyper_connections,
    inference,
    layout,
    matmul,
    moe,
    multi_head_attention,
    norm,
    quantize,
    quantized_layers,
    recurrent,
    regions,
    rope,
    rotated,
    transformer,
    update,
    vocabulary,
)

FAMILIES = (
    activation, attention, backward, boxes, caches, delta_rule, dequantize, gradients, hyper_connections, inference,
    layout, matmul, moe, multi_head_attention, norm, quantize, quantized_layers, recurrent, regions, rope, rotated, update,
    vocabulary,
)  # fmt: skip

IN_TABLE = (
    "_npu_dropout", "npu_add_rms_norm", "npu_dropout_backward", "npu_rms_norm", "npu_rms_norm_backward", "npu_rotary_mul",
    "npu_rotary_mul_backward", "npu_swiglu", "npu_swiglu_backward",
)  # fmt: skip
"""Those of the op table, which have kernels of their own."""

__all__ = sorted([*IN_TABLE, *transformer.__all__, *(name for family in FAMILIES for name in family.__all__)])

globals().update({name.partition(".")[0]: getattr(ops.npu, name.partition(".")[0]) for name in (*IN_TABLE, *SCHEMAS)})
globals().update({name: getattr(ops.atb, name) for name in transformer.__all__})
npu_change_data_ptr = layout.npu_change_data_ptr
"""A function alone: an operator cannot change what its operand's memory is."""
setattr(ops.npu, "npu_change_data_ptr", npu_change_data_ptr)  # noqa: B010 - the namespace looks its operators up
globals().update(
    {
        name: update.with_out(getattr(ops.npu, name))
        for name in ("npu_apply_adam", "npu_apply_adam_w", "npu_bert_apply_adam")
    }
)
for _name, _value in placeholders("torch_npu").items():
    if _name.islower():
        setattr(ops.npu, _name, _value)
