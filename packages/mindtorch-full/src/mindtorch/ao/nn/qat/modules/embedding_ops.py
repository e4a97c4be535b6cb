"""Embeddings that are trained with rounded weights."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.qat.modules._configured import check_configured
from mindtorch.nn import functional

__all__ = ["Embedding", "EmbeddingBag"]


def _check_config(qconfig: Any, made_as: str) -> None:
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
    if qconfig.weight().qscheme != torch.per_channel_affine_float_qparams:
        raise AssertionError(
            f"{made_as} weights requires a qscheme of torch.per_channel_affine_float_qparams Got {qconfig.weight().qscheme}"
        )


def _check_source(cls: Any, mod: Any) -> None:
    if type(mod) is not cls._FLOAT_MODULE:
        raise AssertionError(f" qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}")
    check_configured(mod)


class _Rounded:
    """An embedding whose weight is rounded before it is used."""

    _FLOAT_MODULE: ClassVar[Any]
    _named: ClassVar[str]
    _arguments: ClassVar[tuple[str, ...]]

    def __init__(self, num_embeddings: int, embedding_dim: int, *args: Any, qconfig: Any = None, **kwargs: Any) -> None:
        super().__init__(num_embeddings, embedding_dim, *args, **kwargs)  # type: ignore[call-arg]
        _check_config(qconfig, self._named)
        self.qconfig = qconfig
        placed = {name: kwargs.get(name) for name in ("device", "dtype")}
        self.weight_fake_quant = qconfig.weight(factory_kwargs=placed)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module with the weight of another one, which has a configuration."""
        _check_source(cls, mod)
        made: Any = cls
        return made(*(getattr(mod, name) for name in cls._arguments), qconfig=mod.qconfig)

    def to_float(self) -> Any:
        """Return the plain module."""
        module: Any = self
        made = self._FLOAT_MODULE(*(None if name == "weight" else getattr(self, name) for name in self._arguments))
        made.weight = torch.nn.Parameter(module.weight.detach())
        made.train(module.training)
        return made


class Embedding(_Rounded, nn.Embedding):
    """`nn.Embedding` whose weight is rounded before it is used.

    >>> import torch.ao.nn.qat as nnqat
    >>> from torch.ao.quantization import default_embedding_qat_qconfig
    >>> layer = nnqat.Embedding(4, 2, qconfig=default_embedding_qat_qconfig)
    >>> layer(torch.tensor([1])).shape
    torch.Size([1, 2])
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Embedding
    _named = "Embedding"
    _arguments = (
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
        "weight",
    )

    def forward(self, input: Tensor) -> Any:
        """Take rows of the rounded weight."""
        return functional.embedding(
            input,
            self.weight_fake_quant(self.weight),
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )


class EmbeddingBag(_Rounded, nn.EmbeddingBag):
    """`nn.EmbeddingBag` whose weight is rounded before it is used.

    >>> import torch.ao.nn.qat as nnqat
    >>> from torch.ao.quantization import default_embedding_qat_qconfig
    >>> layer = nnqat.EmbeddingBag(4, 2, qconfig=default_embedding_qat_qconfig)
    >>> layer(torch.tensor([[1, 2]])).shape
    torch.Size([1, 2])
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.EmbeddingBag
    _named = "Embedding Bag"
    _arguments = (
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "weight",
        "include_last_offset",
        "padding_idx",
    )

    def forward(self, input: Tensor, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Sum rows of the rounded weight."""
        return functional.embedding_bag(
            input,
            self.weight_fake_quant(self.weight),
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )


adopt(globals())
