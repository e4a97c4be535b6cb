"""The operators of inference behind attention layers: numbers, errors and when layers take them; beside torch."""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import pytest

import mindtorch
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")


class Attention:
    """Inputs and packed weights of one attention, the same on both sides."""

    def __init__(self, module: Any) -> None:
        self.t = module
        self.q = self.wave(2, 3, 8)
        self.weights = (self.wave(24, 8), self.wave(24), self.wave(8, 8), self.wave(8))
        self.padding = module.tensor([[False, False, True], [False, True, True]])
        self.later = module.ones(3, 3).triu(1).bool()

    def wave(self, *shape: int) -> Any:
        """Return numbers between -1 and 1."""
        count = 1
        for extent in shape:
            count *= extent
        return self.t.arange(float(count)).sin().reshape(shape)

    def native(self, *options: Any, query: Any = None, width: int = 8, heads: int = 2, **named: Any) -> Any:
        """Call the operator on self-attention."""
        q = self.q if query is None else query
        return self.t._native_multi_head_attention(q, q, q, width, heads, *self.weights, *options, **named)

    def encoder(self, layers: int = 2, **options: Any) -> Any:
        """Return an encoder in evaluation whose weights are known."""
        options = {"batch_first": True, **options}
        layer = self.t.nn.TransformerEncoderLayer(8, 2, 4, **options).eval()
        for parameter in layer.parameters():
            parameter.data.copy_(self.wave(*parameter.shape))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.t.nn.TransformerEncoder(layer, layers).eval()


CALLS = {
    "plain": lambda a: a.native(),
    "of all heads": lambda a: a.native(average_attn_weights=False),
    "without weights": lambda a: a.native(need_weights=False)[0],
    "padding": lambda a: a.native(a.padding, mask_type=1),
    "padding of numbers": lambda a: a.native(a.padding.float() * -2, mask_type=1),
    "later places": lambda a: a.native(a.later, mask_type=0),
    "merged": lambda a: a.native(a.later.expand(2, 2, 3, 3), mask_type=2),
    "merged without a kind": lambda a: a.native(a.later.expand(2, 2, 3, 3).contiguous()),
    "nothing": lambda a: a.native(query=a.q[:0])[0],
    "keys of others": lambda a: a.t._native_multi_head_attention(a.q, a.q.cos(), a.q + 1, 8, 2, *a.weights),
    "rescaled": lambda a: a.t._transform_bias_rescale_qkv(a.wave(2, 3, 24), a.weights[1], 2),
    "encoder": lambda a: a.encoder()(a.q),
    "encoder of padded": lambda a: a.encoder()(a.q, src_key_padding_mask=a.padding),
    "encoder padded first": lambda a: a.encoder()(a.q, src_key_padding_mask=a.padding.flip(1)),
    "encoder of both masks": lambda a: a.encoder()(a.q, mask=a.later, src_key_padding_mask=a.padding),
    "encoder with norms first": lambda a: a.encoder(norm_first=True)(a.q, mask=a.later),
    "encoder of gelu": lambda a: a.encoder(activation="gelu")(a.q),
    "encoder of nothing": lambda a: a.encoder()(a.q[:0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers(name: str) -> None:
    """Results are torch's to rounding, in places of padding too."""
    with torch.no_grad(), mindtorch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_value(
            lambda: CALLS[name](Attention(mindtorch)), lambda: CALLS[name](Attention(torch)), rtol=1e-5, atol=1e-5
        )


ERRORS = {
    "no kind": lambda a: a.native(a.padding),
    "no such kind": lambda a: a.native(a.padding, mask_type=3),
    "mask of another shape": lambda a: a.native(a.padding, mask_type=0),
    "two dimensions": lambda a: a.native(query=a.q[0]),
    "another width": lambda a: a.native(width=6),
    "heads": lambda a: a.native(heads=3),
    "rescaled heads": lambda a: a.t._transform_bias_rescale_qkv(a.wave(2, 3, 24), a.weights[1], 3),
    "rescaled matrix": lambda a: a.t._transform_bias_rescale_qkv(a.wave(2, 24), a.weights[1], 2),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    """What does not fit raises torch's error."""
    assert_torch_error(lambda: ERRORS[name](Attention(mindtorch)), lambda: ERRORS[name](Attention(torch)))


@pytest.mark.parametrize("changed", ["", "training", "grad", "float mask", "hooks", "disabled", "not batch first"])
def test_when_layers_take_it(changed: str) -> None:
    """A layer takes the operator in the conditions in which torch's does."""
    assert _takes(mindtorch, changed) == _takes(torch, changed) == (changed in ("", "float mask"))


def _takes(module: Any, changed: str) -> bool:
    given = Attention(module)
    layer = given.encoder(1, batch_first=changed != "not batch first").layers[0]
    if changed == "training":
        layer.train()
    if changed == "hooks":
        layer.register_forward_hook(lambda *seen: None)
    mask = given.padding.float() * -1e9 if changed == "float mask" else None
    module.backends.mha.set_fastpath_enabled(changed != "disabled")
    try:
        with (
            mock.patch.object(module, "_transformer_encoder_layer_fwd", return_value=given.q) as called,
            module.set_grad_enabled(changed == "grad"),
        ):
            layer(given.q, src_key_padding_mask=mask)
    finally:
        module.backends.mha.set_fastpath_enabled(True)
    return bool(called.called)
