"""`torch._functorch.autograd_function`: what rules of `autograd.Function` under `vmap` are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch_autograd.function_batching import VmapInfo
from mindtorch_dispatch.call import aten

__all__ = ["CtxWithSavedTensors", "VmapInfo", "WrappedCtx", "reductify_leaf"]


class WrappedCtx:
    """A ctx around another: attributes that are not its own are read from that one and written to it."""

    _pt_reserved_attrs: tuple[str, ...] = ("_pt_reserved_attrs", "_pt_inner_ctx")

    def __init__(self, ctx: Any) -> None:
        reserved = type(self)._pt_reserved_attrs
        if not isinstance(ctx, WrappedCtx) and any(hasattr(ctx, name) for name in reserved):
            raise RuntimeError(
                f"PyTorch reserves the {reserved} field on ctx. Please name your fields on ctx something else to avoid name "
                "collision."
            )
        self._pt_inner_ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pt_inner_ctx, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in type(self)._pt_reserved_attrs:
            self.__dict__[name] = value
        else:
            setattr(self._pt_inner_ctx, name, value)


class CtxWithSavedTensors(WrappedCtx):
    """A ctx whose `saved_tensors` are others."""

    _pt_reserved_attrs = ("_pt_new_saved_tensors", *WrappedCtx._pt_reserved_attrs)

    def __init__(self, ctx: Any, new_saved_tensors: Sequence[Any]) -> None:
        super().__init__(ctx)
        self._pt_new_saved_tensors = new_saved_tensors

    @property
    def saved_tensors(self) -> Sequence[Any]:
        """The tensors given."""
        return self._pt_new_saved_tensors


def reductify_leaf(
    grad_input: Any,
    grad_input_bdim: int | None,
    input_bdim: int | None,
    batch_size: int,
    target_shape_without_bdim_to_reduce_to: Sequence[int] | None = None,
) -> Any:
    """Return an input's gradient with the batch dimension at ``input_bdim``: summed where the input has none, repeated
    where the gradient has none, and summed to the example's shape where one is given."""
    if grad_input is None:
        return None
    if input_bdim is None:
        return grad_input if grad_input_bdim is None else aten.sum(grad_input, [grad_input_bdim])
    if grad_input_bdim is None:
        grad_input = aten.unsqueeze(grad_input, input_bdim)
        shape = list(grad_input.shape)
        shape[input_bdim] = batch_size
        grad_input, grad_input_bdim = aten.expand(grad_input, shape), input_bdim
    if target_shape_without_bdim_to_reduce_to is None:
        return aten.movedim(grad_input, grad_input_bdim, input_bdim)
    shape = list(target_shape_without_bdim_to_reduce_to)
    moved = aten.movedim(grad_input, grad_input_bdim, 0)
    padding = [1] * (moved.dim() - 1 - len(shape))
    summed = aten.sum_to_size(moved, [batch_size, *padding, *shape])
    return aten.movedim(aten.reshape(summed, [batch_size, *shape]), 0, input_bdim)


adopt(globals())
