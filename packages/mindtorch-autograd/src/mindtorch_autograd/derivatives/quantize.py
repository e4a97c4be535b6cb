"""Derivatives of fake quantization: straight through where nothing was clamped."""

from mindtorch_dispatch.call import aten

from ..derivative import derivative

for _name, _node in {
    "fake_quantize_per_tensor_affine_cachemask": "FakeQuantizePerTensorAffineCachemaskBackward0",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": (
        "FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0"
    ),
    "fake_quantize_per_channel_affine_cachemask": "FakeQuantizePerChannelAffineCachemaskBackward0",
}.items():
    derivative(_name, self=lambda grad, result1: aten.mul(grad, result1), node=_node)
