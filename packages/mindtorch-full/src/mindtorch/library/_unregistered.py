"""Gradients of operators that nobody registered a backward for: a warning when they are asked for, as in torch."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_autograd.function import Function
from mindtorch_dispatch.extend.entries import Registration
from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.registry import registry
from mindtorch_storage.tensor_base import TensorBase

_BELOW = DispatchKeySet(key for key in DispatchKey if key < DispatchKey.Autograd)


class WarnNotImplemented(Function):
    """The node of a result that its kernel did not record: it gives no gradients and says so."""

    @staticmethod
    def forward(ctx: Any, op: OpOverload, result: Any, *inputs: Any) -> Any:
        """Return the result; nothing is saved."""
        ctx.op, ctx.count = op, len(inputs)
        ctx.set_materialize_grads(False)
        return result.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Warn, and return no gradient."""
        _warn(ctx.op)
        return (None,) * (2 + ctx.count)


WarnNotImplemented._backward_cls.__name__ = "WarnNotImplemented"


def _warn(op: OpOverload) -> None:
    warnings.warn(
        f"{op.name()}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through "
        "it. This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future "
        "version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd kernel to "
        "the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your operator is "
        "not differentiable, or to squash this warning and use the previous behavior, please register "
        "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.",
        stacklevel=2,
    )


def _told(gradient: Any, op: OpOverload) -> None:
    _warn(op)


def unregistered(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Call `op` below autograd; results that can have a gradient warn when one goes through them."""
    result = op.redispatch(_BELOW, *args, **kwargs)
    given = [one for value in (*args, *kwargs.values()) for one in (value if isinstance(value, list) else [value])]
    inputs = [one for one in given if isinstance(one, TensorBase) and one._sig.requires_grad]
    if not isinstance(result, (list, tuple)):
        return _watched(op, result, inputs)
    return type(result)(_watched(op, one, inputs) for one in result)


def _watched(op: OpOverload, result: Any, inputs: list[Any]) -> Any:
    if not isinstance(result, TensorBase) or any(result is one for one in inputs):
        return result
    if result._sig.requires_grad:
        if not result.is_leaf:  # type: ignore[attr-defined]
            result.register_hook(lambda gradient: _told(gradient, op))  # type: ignore[attr-defined]
        return result
    dtype = result._sig.spec.dtype
    if not (dtype.is_floating_point or dtype.is_complex) or not inputs:
        return result
    return WarnNotImplemented.apply(op, result, *inputs)


def install() -> None:
    """Have operators without a kernel for autograd answered for; done once, when `torch.library` is imported."""
    registry.register_fallback("Autograd", Registration(unregistered, place=__file__))


install()
