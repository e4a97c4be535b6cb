"""Methods of `Tensor` over functions that are not plain ops."""

from __future__ import annotations

from typing import Any

from mindtorch.functions import linear_algebra, reductions, spectral
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

from . import construction

_dims = LazyModule("mindtorch._functorch_package.dim", "it is made of tensors")


class ComposedMixin(TensorBase):
    """`norm`, `unique` and the like."""

    __slots__ = ()

    new_tensor = construction.new_tensor
    new = construction.new

    def norm(self, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        """See `torch.norm`.

        >>> torch.tensor([3.0, 4.0]).norm()
        tensor(5.)
        """
        return reductions.norm(self, p, dim, keepdim, dtype=dtype)

    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """See `torch.unique`.

        >>> torch.tensor([3, 1, 3]).unique()
        tensor([1, 3])
        """
        return reductions.unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(
        self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any:
        """See `torch.unique_consecutive`.

        >>> torch.tensor([1, 1, 2, 1]).unique_consecutive()
        tensor([1, 2, 1])
        """
        return reductions.unique_consecutive(self, return_inverse, return_counts, dim)

    def index(self, positions: Any, dims: Any) -> Any:
        """Return the tensor with positions bound to dimensions of `functorch.dim`, or indexed.

        >>> from functorch.dim import dims
        >>> i = dims()
        >>> torch.arange(6).reshape(2, 3).index(1, i).dims
        (i,)
        """
        return _dims.index(self, positions, dims)

    def lu(self, pivot: bool = True, get_infos: bool = False) -> Any:
        """See `torch.lu`."""
        return tuple(linear_algebra.lu(self, pivot, get_infos))

    def stft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = None,
        center: bool = True,
        pad_mode: str = "reflect",
        normalized: bool = False,
        onesided: bool | None = None,
        return_complex: bool | None = None,
        align_to_window: bool | None = None,
    ) -> Any:
        """See `torch.stft`.

        >>> torch.ones(8).stft(4, window=torch.ones(4), return_complex=True).shape
        torch.Size([3, 9])
        """
        return spectral.stft(
            self,
            n_fft,
            hop_length,
            win_length,
            window,
            center,
            pad_mode,
            normalized,
            onesided,
            return_complex=return_complex,
            align_to_window=align_to_window,
        )
