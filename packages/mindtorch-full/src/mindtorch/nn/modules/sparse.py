"""Embedding tables."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _EmbeddingTable(Module):
    """Construction that Embedding and EmbeddingBag share."""

    def _check_padding_idx(self, padding_idx: int | None, spelling: str) -> int | None:
        if padding_idx is None:
            return None
        if padding_idx > 0:
            if padding_idx >= self.num_embeddings:
                raise AssertionError(f"{spelling} must be within num_embeddings")
        elif padding_idx < 0:
            if padding_idx < -self.num_embeddings:
                raise AssertionError(f"{spelling} must be within num_embeddings")
            padding_idx = self.num_embeddings + padding_idx
        return padding_idx

    def _check_weight(self, weight: Tensor) -> None:
        if list(weight.shape) != [self.num_embeddings, self.embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")

    def reset_parameters(self) -> None:
        """Draw the table from the standard normal distribution; the padding row becomes zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with mindtorch.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _lookup_options(self) -> str:
        """The options of a look-up that are not the default, for `extra_repr`."""
        parts = ""
        if self.max_norm is not None:
            parts += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            parts += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            parts += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return parts


def _sizes(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, cols = embeddings.shape
    return rows, cols


class Embedding(_EmbeddingTable):
    """A table of ``num_embeddings`` vectors, looked up by index.

    `input` holds integers from 0 to num_embeddings - 1 in any shape (*), the result is (*, embedding_dim). The row
    `padding_idx` is 0 at the start and gets no gradient. An integer out of range raises IndexError.

    >>> table = torch.nn.Embedding(10, 3)
    >>> table(torch.tensor([[1, 2], [4, 9]])).shape
    torch.Size([2, 2, 3])
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    ]
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: Tensor
    freeze: bool
    sparse: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = self._check_padding_idx(padding_idx, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is None:
            empty = mindtorch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            self._check_weight(_weight)
            self.weight = Parameter(_weight, requires_grad=not _freeze)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """Map indices (*) to vectors (*, embedding_dim)."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Return the sizes and every option that is not the default."""
        parts = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            parts += f", padding_idx={self.padding_idx}"
        parts += self._lookup_options()
        if self.sparse is not False:
            parts += ", sparse=True"
        return parts

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> "Embedding":
        """Return a layer over the given 2-dimensional table, not trained if ``freeze``."""
        rows, cols = _sizes(embeddings)
        return cls(
            num_embeddings=rows,
            embedding_dim=cols,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_EmbeddingTable):
    """Sums, averages or takes the maximum of bags of embeddings without making the embeddings.

    >>> bag = torch.nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0, 1.0], [3.0, 5.0]]))
    >>> bag(torch.tensor([0, 1, 1]), torch.tensor([0, 2]))
    tensor([[2., 3.],
            [3., 5.]])
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    ]
    num_embeddings: int
    embedding_dim: int
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: Tensor
    mode: str
    sparse: bool
    include_last_offset: bool
    padding_idx: int | None

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = self._check_padding_idx(padding_idx, "padding_idx")
        if _weight is None:
            self.weight = Parameter(mindtorch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        else:
            self._check_weight(_weight)
            self.weight = Parameter(_weight)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """Map bags of indices, (B, N) or flat with ``offsets``, to (B, embedding_dim)."""
        return F.embedding_bag(
            input,
            self.weight,
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

    def extra_repr(self) -> str:
        """Return the sizes and every option that is not the default."""
        parts = f"{self.num_embeddings}, {self.embedding_dim}" + self._lookup_options()
        parts += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            parts += f", padding_idx={self.padding_idx}"
        return parts

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> "EmbeddingBag":
        """Return a layer over the given 2-dimensional table, not trained if ``freeze``."""
        rows, cols = _sizes(embeddings)
        layer = cls(
            num_embeddings=rows,
            embedding_dim=cols,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        layer.weight.requires_grad = not freeze
        return layer


adopt(globals())
