"""Gradients of operators that nobody registered a backward for: a warning when they are asked for, as in torch."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch import _C
from mindtorch._C import _autograd_fallback
from mindtorch_autograd.function import Function
from mindtorch_dispatch.extend.entries import Registration
from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.registry import registry
from mindtorch_storage.tensor_base import TensorBase

_BELOW = DispatchKeySet(key for key in DispatchKey if key < DispatchKey.Autograd)


class WarnNotImplemented(Function):
    """The node of results that their kernel did not record: it gives no gradients and says so."""

    @staticmethod
    def forward(ctx: Any, op: OpOverload, results: list[Any], *inputs: Any) -> Any:
        """Return the results; nothing is saved."""
        ctx.op, ctx.count = op, len(inputs)
        ctx.set_materialize_grads(False)
        return tuple(result.detach() for result in results)

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


def unregistered(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Call `op` below autograd; results that can have a gradient warn when one goes through them."""
    given = [one for value in (*args, *kwargs.values()) for one in (value if isinstance(value, list) else [value])]
    inputs = [one for one in given if isinstance(one, TensorBase) and one._sig.requires_grad]
    result = op.redispatch(_BELOW, *args, **kwargs)
    if not inputs or _autograd_fallback.mode == "nothing" or not _C.is_grad_enabled():
        return result
    if isinstance(result, TensorBase):
        return _watched(op, [result], inputs)[0]
    if not isinstance(result, (list, tuple)):
        return result
    return type(result)(_watched(op, list(result), inputs))


def _watched(op: OpOverload, results: list[Any], inputs: list[Any]) -> list[Any]:
    """Return the results with one node for all that their kernel did not record; the others' gradients are watched."""
    writes = op._schema.is_mutable
    left = [
        place for place, one in enumerate(results) if isinstance(one, TensorBase) and not _recorded(op, one, writes)
    ]
    if left and not writes:
        for place, one in zip(
            left, WarnNotImplemented.apply(op, [results[place] for place in left], *inputs), strict=True
        ):
            results[place] = one
    return results


def _recorded(op: OpOverload, result: Any, writes: bool) -> bool:
    """Return whether a result needs no node; its gradient, and that of what it is a view of, is watched."""
    if not result._sig.requires_grad:
        dtype = result._sig.spec.dtype
        return not (dtype.is_floating_point or dtype.is_complex)
    base = result._base if writes else None
    for one in (result, base):
        if one is not None and one._sig.requires_grad:
            one.register_hook(lambda gradient: _warn(op))
    return True


def install() -> None:
    """Have operators without a kernel for autograd answered for; done once, when `torch.library` is imported."""
    registry.register_fallback("Autograd", Registration(unregistered, place=__file__))


install()
