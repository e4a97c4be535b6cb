"""`ExpandedWeight`: stands for a parameter in a call, whose gradients per example become ``grad_sample`` of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor

from .per_sample import HANDLED, computed
from .recurrent import RECURRENT, recurrent

__all__ = ["ExpandedWeight"]


class ExpandedWeight(Tensor):
    """A parameter that is to be differentiated per example of a batch of ``batch_size``.

    Functions of layers with a batch dimension take it as their weight or bias: linear maps, convolutions, embeddings,
    recurrent layers, and the normalizations that do not mix examples. Others raise RuntimeError. After a backward the
    parameter has ``grad_sample``, of shape (batch size, shape of the parameter), scaled by the batch size where
    ``loss_reduction`` is "mean".

    >>> weight = torch.ones(1, 2, requires_grad=True)
    >>> expanded = torch.nn.utils._expanded_weights.ExpandedWeight(weight, 2, "sum")
    >>> torch.nn.functional.linear(torch.tensor([[1., 2.], [3., 4.]]), expanded).sum().backward()
    >>> weight.grad_sample
    tensor([[[1., 2.]],
    <BLANKLINE>
            [[3., 4.]]])
    """

    orig_weight: Any
    batch_size: int
    batch_first: bool
    allow_smaller_batches: bool
    loss_reduction: str

    def __new__(cls, orig_weight: Any, batch_size: int, loss_reduction: str) -> Any:
        """Return the stand-in; RuntimeError for what is no tensor, or needs no gradient."""
        if not isinstance(orig_weight, Tensor):
            raise RuntimeError(f"Can only make Expanded Weights of Tensors, got {type(orig_weight).__name__}")
        if not orig_weight.requires_grad:
            raise RuntimeError("Can only build ExpandedWeights objects of tensors that requires_grad")
        return Tensor._make_subclass(cls, orig_weight, True)

    def __init__(self, orig_weight: Any, batch_size: int, loss_reduction: str) -> None:
        self.orig_weight = orig_weight
        self.batch_size = batch_size
        self.batch_first = True
        self.allow_smaller_batches = False
        self.loss_reduction = loss_reduction

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Compute the functions that know the batch; RuntimeError for others."""
        name = getattr(func, "__name__", str(func))
        if name in RECURRENT:
            return recurrent(func, args)
        if name not in HANDLED:
            raise RuntimeError(f"Expanded Weights encountered but cannot handle function {name}")
        return computed(name, func, args, kwargs or {})

    @property
    def dtype(self) -> Any:
        """That of the parameter."""
        return self.orig_weight.dtype

    @property
    def data(self) -> Any:
        """That of the parameter."""
        return self.orig_weight.data

    @property
    def shape(self) -> Any:
        """That of the parameter."""
        return self.orig_weight.shape

    @property
    def device(self) -> Any:
        """That of the parameter."""
        return self.orig_weight.device

    @property
    def is_cuda(self) -> bool:
        """That of the parameter."""
        return self.orig_weight.is_cuda

    def data_ptr(self) -> int:
        """Return that of the parameter."""
        return self.orig_weight.data_ptr()

    def get_device(self) -> int:
        """Return that of the parameter."""
        return self.orig_weight.get_device()

    def set_allow_smaller_batches(self, is_allow_smaller_batches: bool) -> None:
        """Choose whether inputs may have fewer examples; the others' gradients are zeros."""
        self.allow_smaller_batches = is_allow_smaller_batches

    def set_batch_first(self, is_batch_first: bool = True) -> None:
        """Choose whether the first dimension of an input is the batch's, or the second one."""
        self.batch_first = is_batch_first


adopt(globals())
