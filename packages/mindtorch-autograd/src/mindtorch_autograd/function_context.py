"""The part of a custom function's node that the function's author uses: `ctx`."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_storage.tensor_base import TensorBase


class FunctionCtx:
    """What `forward` and `backward` of a custom function share.

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return 2 * grad * ctx.saved_tensors[0]
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    __module__ = "torch.autograd.function"
    to_save: tuple[Any, ...] | None
    saved_for_forward: tuple[Any, ...] | None
    dirty_tensors: tuple[Any, ...] | None
    non_differentiable: tuple[Any, ...] | None

    def save_for_backward(self, *tensors: object) -> None:
        """Keep tensors for `backward`; read them there as `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: object) -> None:
        """Keep tensors for `jvp`."""
        for tensor in tensors:
            assert isinstance(tensor, TensorBase) or tensor is None, (
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
            )
        self.saved_for_forward = tensors

    def mark_shared_storage(self, *pairs: object) -> None:
        """Does nothing but warn: shared memory is always noticed."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that calls to "
            "`set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_dirty(self, *args: object) -> None:
        """Say which inputs `forward` wrote in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: object) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether undefined gradients arrive in `backward` as zeros (the default) or None."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
            )
        self.materialize_grads = value
