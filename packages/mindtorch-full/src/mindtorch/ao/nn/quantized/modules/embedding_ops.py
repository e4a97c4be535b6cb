"""Embeddings whose rows are integers, each with its own scale."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.quantized.modules.utils import _hide_packed_params_repr, _quantize_weight

__all__ = ["Embedding", "EmbeddingBag", "EmbeddingPackedParams"]


class EmbeddingPackedParams(nn.Module):
    """The weight of an embedding.

    >>> from torch.ao.nn.quantized.modules.embedding_ops import EmbeddingPackedParams
    >>> packed = EmbeddingPackedParams(4, 2)
    >>> packed._weight().shape
    torch.Size([4, 2])
    """

    _version = 1

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = torch.quint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype not in (torch.quint8, torch.quint4x2):
            raise NotImplementedError(
                f"Unsupported dtype on quantized embedding! Supports quint8 and quint4x2. Got dtype: {dtype}"
            )
        weight = torch._empty_per_channel_affine_quantized(
            [num_embeddings, embedding_dim],
            scales=torch.ones(num_embeddings, dtype=torch.float),
            zero_points=torch.zeros(num_embeddings, dtype=torch.float),
            axis=0,
            dtype=dtype,
        )
        self.set_weight(weight)

    def set_weight(self, weight: Any) -> None:
        """Take a weight."""
        self._packed_weight = weight

    def _weight(self) -> Any:
        return self._packed_weight

    def forward(self, x: Tensor) -> Any:
        """Return `x`."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._weight()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *rest: Any
    ) -> None:
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight(state_dict.pop(prefix + "_packed_weight"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def __repr__(self) -> str:
        return repr(self._weight())


class Embedding(nn.Module):
    """`nn.Embedding` whose rows are integers; the result is float32.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.Embedding(4, 2)
    >>> layer(torch.tensor([1, 3])).shape, layer.weight().dtype
    (torch.Size([2, 2]), torch.quint8)
    """

    _version = 1
    _FLOAT_MODULE: ClassVar[Any] = (nn.Embedding, None)

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        dtype: Any = torch.quint8,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.dtype = num_embeddings, embedding_dim, dtype
        if _weight is not None and list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            self._packed_params.set_weight(_weight)

    def forward(self, indices: Any) -> Any:
        """Return the numbers of rows."""
        return nn.functional.embedding(indices, self.weight().dequantize())

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, EmbeddingPackedParams)

    def extra_repr(self) -> str:
        """The sizes, and how the weight is quantized."""
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"dtype={self._packed_params.dtype}, qscheme={self.weight().qscheme()}"
        )

    def set_weight(self, w: Any) -> None:
        """Take another weight."""
        self._packed_params.set_weight(w)

    def weight(self) -> Any:
        """Return the weight."""
        return self._packed_params._weight()

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the embedding for one of numbers, which has a configuration."""
        return _converted(cls, mod, use_precomputed_fake_quant)


def _converted(cls: Any, mod: Any, precomputed: bool, **options: Any) -> Any:
    if hasattr(mod, "weight_fake_quant"):
        observer = mod.weight_fake_quant
    else:
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Embedding input float module must have qconfig defined")
        if mod.qconfig is None or mod.qconfig.weight is None:
            observer = torch.ao.quantization.float_qparams_weight_only_qconfig.weight()
        else:
            observer = mod.qconfig.weight()
    dtype = observer.dtype
    if observer.qscheme != torch.per_channel_affine_float_qparams:
        raise AssertionError(
            f"Embedding quantization is only supported with float_qparams_weight_only_qconfig, got qscheme {observer.qscheme}."
        )
    if not precomputed:
        observer(mod.weight)
    made = cls(mod.num_embeddings, mod.embedding_dim, dtype=dtype, **options)
    made.set_weight(_quantize_weight(mod.weight.float(), observer))
    return made


class EmbeddingBag(Embedding):
    """`nn.EmbeddingBag` whose rows are integers; sums are float32.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.EmbeddingBag(4, 2, mode="sum")
    >>> layer(torch.tensor([1, 3, 2]), torch.tensor([0, 2])).shape, layer.weight().dtype
    (torch.Size([2, 2]), torch.quint8)
    """

    _FLOAT_MODULE: ClassVar[Any] = (nn.EmbeddingBag, None)

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "sum",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        dtype: Any = torch.quint8,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode = mode
        self.pruned_weights = False
        self.include_last_offset = include_last_offset

    def forward(self, indices: Any, offsets: Any = None, per_sample_weights: Any = None, *rest: Any) -> Any:
        """Return the sums of rows."""
        return nn.functional.embedding_bag(
            indices,
            self.weight().dequantize(),
            offsets,
            mode="sum",
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
        )

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the bag for one of numbers, which has a configuration."""
        return _converted(
            cls,
            mod,
            use_precomputed_fake_quant,
            max_norm=mod.max_norm,
            norm_type=mod.norm_type,
            mode=mod.mode,
            include_last_offset=mod.include_last_offset,
        )


adopt(globals())
