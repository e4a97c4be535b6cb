"""Embeddings that are trained with rounded weights."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
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
    if not hasattr(mod, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
    if not mod.qconfig:
        raise AssertionError("Input float module must have a valid qconfig")


class Embedding(nn.Embedding):
    """`nn.Embedding` whose weight is rounded before it is used."""

    _FLOAT_MODULE: ClassVar[Any] = nn.Embedding

    def __init__(self, num_embeddings: int, embedding_dim: int, *args: Any, qconfig: Any = None, **kwargs: Any) -> None:
        super().__init__(num_embeddings, embedding_dim, *args, **kwargs)
        _check_config(qconfig, "Embedding")
        self.qconfig = qconfig
        placed = {name: kwargs.get(name) for name in ("device", "dtype")}
        self.weight_fake_quant = qconfig.weight(factory_kwargs=placed)

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

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the embedding with the weight of another one, which has a configuration."""
        _check_source(cls, mod)
        return cls(
            mod.num_embeddings,
            mod.embedding_dim,
            mod.padding_idx,
            mod.max_norm,
            mod.norm_type,
            mod.scale_grad_by_freq,
            mod.sparse,
            mod.weight,
            qconfig=mod.qconfig,
        )

    def to_float(self) -> Any:
        """Return the plain embedding."""
        made: Any = nn.Embedding(
            self.num_embeddings,
            self.embedding_dim,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
            None,
        )
        made.weight = torch.nn.Parameter(self.weight.detach())
        made.train(self.training)
        return made


class EmbeddingBag(nn.EmbeddingBag):
    """`nn.EmbeddingBag` whose weight is rounded before it is used."""

    _FLOAT_MODULE: ClassVar[Any] = nn.EmbeddingBag

    def __init__(self, num_embeddings: int, embedding_dim: int, *args: Any, qconfig: Any = None, **kwargs: Any) -> None:
        super().__init__(num_embeddings, embedding_dim, *args, **kwargs)
        _check_config(qconfig, "Embedding Bag")
        self.qconfig = qconfig
        placed = {name: kwargs.get(name) for name in ("device", "dtype")}
        self.weight_fake_quant = qconfig.weight(factory_kwargs=placed)

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

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the bag with the weight of another one, which has a configuration."""
        _check_source(cls, mod)
        return cls(
            mod.num_embeddings,
            mod.embedding_dim,
            mod.max_norm,
            mod.norm_type,
            mod.scale_grad_by_freq,
            mod.mode,
            mod.sparse,
            mod.weight,
            mod.include_last_offset,
            mod.padding_idx,
            qconfig=mod.qconfig,
        )

    def to_float(self) -> Any:
        """Return the plain bag."""
        made: Any = nn.EmbeddingBag(
            self.num_embeddings,
            self.embedding_dim,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            None,
            self.include_last_offset,
            self.padding_idx,
        )
        made.weight = torch.nn.Parameter(self.weight.detach())
        made.train(self.training)
        return made


adopt(globals())
