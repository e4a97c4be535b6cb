"""One layer of a transformer encoder or decoder; public through ``nn.modules.transformer``."""

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules._fast_path import layer_tensors, why_not_layer
from mindtorch.nn.modules.activation import GELU, MultiheadAttention, ReLU
from mindtorch.nn.modules.dropout import Dropout
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.normalization import LayerNorm


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _canonical_masks(mask: Any, name: str, padding: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the mask of that name and the padding mask of a source as what is added to scores of ``dtype``."""
    kind = F._none_or_dtype(mask)
    padding = F._canonical_mask(padding, "src_key_padding_mask", other_type=kind, other_name=name, target_type=dtype)
    mask = F._canonical_mask(mask, name, other_type=None, other_name="", target_type=dtype, check_other=False)
    return mask, padding


class _TransformerLayer(Module):
    """Attentions and a feed-forward network, each a block with residual and layer norm."""

    __constants__ = ["norm_first"]
    _attentions = ("self_attn",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        made = {"device": device, "dtype": dtype}
        super().__init__()
        for name in self._attentions:
            attention = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **made)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **made)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for block in blocks:
            setattr(self, f"norm{block}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made))
        for block in blocks:
            setattr(self, f"dropout{block}", Dropout(dropout))
        self._set_activation(_get_activation_fn(activation) if isinstance(activation, str) else activation)

    def _set_activation(self, activation: Callable[[Tensor], Tensor]) -> None:
        self.activation = activation

    @staticmethod
    def _attend(
        attention: MultiheadAttention, x: Tensor, memory: Tensor, mask: Any, padding: Any, is_causal: bool
    ) -> Tensor:
        """Return what `x` takes from `memory`, without the weights."""
        return attention(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False, is_causal=is_causal
        )[0]

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return self.dropout1(self._attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention and a feed-forward network, each with residual and layer norm.

    >>> torch.nn.TransformerEncoderLayer(8, 2, 16)(torch.ones(4, 1, 8)).shape
    torch.Size([4, 1, 8])
    """

    def _set_activation(self, activation: Callable[[Tensor], Tensor]) -> None:
        self.activation_relu_or_gelu = _relu_or_gelu(activation)
        super()._set_activation(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return a tensor of the shape of ``src``."""
        src_mask, src_key_padding_mask = _canonical_masks(src_mask, "src_mask", src_key_padding_mask, src.dtype)
        if not why_not_layer(self, src, (src_mask, src_key_padding_mask)):
            return self._encode_at_once(src, src_mask, src_key_padding_mask)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal=is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal))
        return self.norm2(x + self._ff_block(x))

    def _encode_at_once(self, src: Tensor, src_mask: Tensor | None, src_key_padding_mask: Tensor | None) -> Tensor:
        """Return what `forward` does, of the operator of inference."""
        attention = self.self_attn
        mask, kind = attention.merge_masks(src_mask, src_key_padding_mask, src)
        packed = (attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias)
        form = (self.activation_relu_or_gelu == 2, self.norm_first, self.norm1.eps)
        sizes = (attention.embed_dim, attention.num_heads)
        encoded: Tensor = mindtorch._transformer_encoder_layer_fwd(
            src, *sizes, *packed, *form, *layer_tensors(self), mask=mask, mask_type=kind
        )
        return encoded

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


def _relu_or_gelu(activation: Any) -> int:
    """Return 1 for relu, 2 for exact gelu, 0 for anything else."""
    if activation is F.relu or isinstance(activation, ReLU):
        return 1
    if activation is F.gelu or isinstance(activation, GELU):
        return 2
    return 0


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention to the memory and a feed-forward network, each with residual and layer norm.

    >>> layer = torch.nn.TransformerDecoderLayer(8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> layer(torch.ones(1, 2, 8), torch.ones(1, 3, 8)).shape
    torch.Size([1, 2, 8])
    """

    _attentions = ("self_attn", "multihead_attn")  # type: ignore[assignment]

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("activation", F.relu)
        super().__setstate__(state)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return a tensor of the shape of ``tgt``."""
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        cross = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *cross)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *cross))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        return self.dropout2(self._attend(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))
