"""Whether attention layers take the operators of inference, which are one call for a whole block: torch's conditions."""

from collections.abc import Sequence
from typing import Any

import mindtorch
from mindtorch._C._modes import _TorchDispatchModeKey
from mindtorch._tensor import Tensor
from mindtorch.amp.state import is_autocast_enabled
from mindtorch.backends.mha import get_fastpath_enabled
from mindtorch.nn.modules.module import Module
from mindtorch.overrides import has_torch_function
from mindtorch.utils._python_dispatch import _detect_infra_mode

_DISABLED = "torch.backends.mha.get_fastpath_enabled() was not True"
_GRAD = "grad is enabled and at least one of query or the input/output projection weights or biases requires_grad"
_DEVICES = ("cpu",)
"""Devices whose layers take these operators; a backend's own kernels stand behind the other path."""


def _first(reasons: Sequence[tuple[object, str]]) -> str:
    return next((text for holds, text in reasons if holds), "")


def _why_not_tensors(tensors: Sequence[Tensor | None]) -> str:
    if has_torch_function(tensors):
        return "some Tensor argument has_torch_function"
    if any(one is not None and one.device.type not in _DEVICES for one in tensors):
        return f"some Tensor argument's device is not one of {', '.join(_DEVICES)}"
    if mindtorch.is_grad_enabled() and any(one is not None and one.requires_grad for one in tensors):
        return _GRAD
    tracing = _detect_infra_mode(_TorchDispatchModeKey.PROXY) is not None
    return "we are running make_fx tracing" if tracing else ""


def _why_not_dtypes(attention: Any, query: Tensor) -> str:
    weight, bias = attention.in_proj_weight, attention.in_proj_bias
    if bias is not None and query.dtype != bias.dtype:
        return f"dtypes of query ({query.dtype}) and self.in_proj_bias ({bias.dtype}) don't match"
    if weight is None:
        return "in_proj_weight was None"
    if query.dtype != weight.dtype:
        return f"dtypes of query ({query.dtype}) and self.in_proj_weight ({weight.dtype}) don't match"
    return ""


def why_not_attention(attention: Any, query: Tensor, key: Tensor, value: Tensor, masks: Sequence[Tensor | None]) -> str:
    """Return why a `MultiheadAttention` must not take `_native_multi_head_attention`, or an empty string; `masks` are as
    the caller gave them."""
    if not get_fastpath_enabled():
        return _DISABLED
    if query.dim() != 3:
        return f"input not batched; expected query.dim() of 3 but got {query.dim()}"
    if query is not key or key is not value:
        return "non-self attention was used (query, key, and value are not the same Tensor)"
    reason = _why_not_dtypes(attention, query) or _first(
        (
            (attention.training, "training is enabled"),
            (attention.num_heads % 2, "self.num_heads is not even"),
            (not attention.batch_first, "batch_first was not True"),
            (attention.bias_k is not None, "self.bias_k was not None"),
            (attention.bias_v is not None, "self.bias_v was not None"),
            (attention.add_zero_attn, "add_zero_attn was enabled"),
            (not attention._qkv_same_embed_dim, "_qkv_same_embed_dim was not True"),
            (
                query.is_nested and any(mask is not None for mask in masks),
                "supplying both src_key_padding_mask and src_mask at the same time is not supported with NestedTensor input",
            ),
            (is_autocast_enabled("cuda"), "autocast is enabled"),
            (attention.in_proj_bias is None, "in_proj_bias was None"),
            (
                any(mask is not None and mask.is_floating_point() for mask in masks),
                "floating-point masks are not supported for fast path.",
            ),
        )
    )
    out = attention.out_proj
    tensors = (query, attention.in_proj_weight, attention.in_proj_bias, out.weight, out.bias)
    return reason or _why_not_tensors(tensors)


def layer_tensors(layer: Any) -> tuple[Any, ...]:
    """Return the weights of an encoder layer, as `_transformer_encoder_layer_fwd` takes them after its numbers."""
    return (
        *(getattr(norm, name) for norm in (layer.norm1, layer.norm2) for name in ("weight", "bias")),
        *(getattr(linear, name) for linear in (layer.linear1, layer.linear2) for name in ("weight", "bias")),
    )


def _has_hooks(layer: Module) -> bool:
    return any(module._forward_hooks or module._forward_pre_hooks for module in layer.modules())


def why_not_layer(layer: Any, src: Tensor, masks: Sequence[Tensor | None]) -> str:
    """Return why a `TransformerEncoderLayer` must not take `_transformer_encoder_layer_fwd`, or an empty string."""
    attention = layer.self_attn
    if not get_fastpath_enabled():
        return _DISABLED
    if src.dim() != 3:
        return f"input not batched; expected src.dim() of 3 but got {src.dim()}"
    reason = _first(
        (
            (layer.training, "training is enabled"),
            (not attention.batch_first, "self_attn.batch_first was not True"),
            (attention.in_proj_bias is None, "self_attn was passed bias=False"),
            (not attention._qkv_same_embed_dim, "self_attn._qkv_same_embed_dim was not True"),
            (not layer.activation_relu_or_gelu, "activation_relu_or_gelu was not True"),
            (layer.norm1.eps != layer.norm2.eps, "norm1.eps is not equal to norm2.eps"),
            (
                src.is_nested and any(mask is not None for mask in masks),
                "neither src_key_padding_mask nor src_mask are not supported with NestedTensor input",
            ),
            (attention.num_heads % 2, "num_head is odd"),
            (is_autocast_enabled("cuda"), "autocast is enabled"),
            (_has_hooks(layer), "forward pre-/hooks are attached to the module"),
        )
    )
    out = attention.out_proj
    tensors = (src, attention.in_proj_weight, attention.in_proj_bias, out.weight, out.bias, *layer_tensors(layer))
    return reason or _why_not_tensors(tensors)
