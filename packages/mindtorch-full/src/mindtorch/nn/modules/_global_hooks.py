"""Hooks that apply to every module, and the counter that lets calls skip all of them."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mindtorch.utils.hooks import RemovableHandle
from mindtorch_autograd.hooks import add_hook

_global_buffer_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Callable] = OrderedDict()

_global_backward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()


class _BackwardKind:
    """Whether the global backward hooks are full ones (True), legacy ones (False) or absent (None)."""

    is_full: bool | None = None


def _has_any_global_hook() -> bool:
    """Return whether any hook that runs around a call is registered for all modules."""
    return bool(
        _global_backward_pre_hooks
        or _global_backward_hooks
        or _global_forward_pre_hooks
        or _global_forward_hooks
        or _global_forward_hooks_always_called
        or _global_forward_hooks_with_kwargs
    )


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` at every ``register_buffer``; what it returns replaces the buffer.

    >>> handle = torch.nn.modules.module.register_module_buffer_registration_hook(
    ...     lambda module, name, buffer: print(name, tuple(buffer.shape))
    ... )
    >>> torch.nn.Module().register_buffer("mean", torch.zeros(2))
    mean (2,)
    >>> handle.remove()
    """
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` at every ``add_module``; what it returns replaces the submodule.

    >>> handle = torch.nn.modules.module.register_module_module_registration_hook(
    ...     lambda module, name, child: print(name, child)
    ... )
    >>> _ = torch.nn.Sequential(torch.nn.ReLU())
    0 ReLU()
    >>> handle.remove()
    """
    return add_hook(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, param)`` at every ``register_parameter``; what it returns replaces the parameter.

    >>> handle = torch.nn.modules.module.register_module_parameter_registration_hook(
    ...     lambda module, name, weight: print(name, tuple(weight.shape))
    ... )
    >>> _ = torch.nn.Linear(2, 3)
    weight (3, 2)
    bias (3,)
    >>> handle.remove()
    """
    return add_hook(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before every module's ``forward``, ahead of the module's own pre-hooks.

    >>> handle = torch.nn.modules.module.register_module_forward_pre_hook(
    ...     lambda module, args: print(module, args)
    ... )
    >>> _ = torch.nn.ReLU()(torch.ones(2))
    ReLU() (tensor([1., 1.]),)
    >>> handle.remove()
    """
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every module's ``forward``, ahead of the module's own hooks.

    >>> handle = torch.nn.modules.module.register_module_forward_hook(
    ...     lambda module, args, output: print(module, tuple(output.shape))
    ... )
    >>> _ = torch.nn.ReLU()(torch.ones(2, 3))
    ReLU() (2, 3)
    >>> handle.remove()
    """
    handle = RemovableHandle(_global_forward_hooks, extra_dict=_global_forward_hooks_always_called)
    _global_forward_hooks[handle.id] = hook
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def _set_backward_kind(*, is_full: bool) -> None:
    if _BackwardKind.is_full is (not is_full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    _BackwardKind.is_full = is_full


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register a legacy backward hook for all modules; raises where full ones are registered.

    >>> from torch.nn.modules.module import register_module_backward_hook, register_module_full_backward_hook
    >>> register_module_full_backward_hook(lambda module, grad_input, grad_output: None).remove()
    >>> register_module_backward_hook(print)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot use both regular backward hooks and full backward hooks as a global Module hook. ...
    """
    _set_backward_kind(is_full=False)
    return add_hook(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before every module's backward.

    >>> handle = torch.nn.modules.module.register_module_full_backward_pre_hook(
    ...     lambda module, grad_output: print(module, grad_output)
    ... )
    >>> torch.nn.ReLU()(torch.ones(2, requires_grad=True)).sum().backward()
    ReLU() (tensor([1., 1.]),)
    >>> handle.remove()
    """
    return add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after every module's backward; raises beside legacy hooks.

    >>> handle = torch.nn.modules.module.register_module_full_backward_hook(
    ...     lambda module, grad_input, grad_output: print(grad_input)
    ... )
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 1.0], requires_grad=True)).sum().backward()
    (tensor([0., 1.]),)
    >>> handle.remove()
    """
    _set_backward_kind(is_full=True)
    return add_hook(_global_backward_hooks, hook)
