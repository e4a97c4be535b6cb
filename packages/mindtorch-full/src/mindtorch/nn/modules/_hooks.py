"""How a module is called: hooks before and after ``forward``, and backward hooks."""

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mindtorch._tensor import Tensor
from mindtorch.nn.modules import _global_hooks
from mindtorch.nn.modules._global_hooks import (
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks,
)
from mindtorch.utils.hooks import BackwardHook, RemovableHandle
from mindtorch_autograd.hooks import add_hook


class _WrappedHook:
    """A hook that remembers its module weakly, so that registering one on a graph node makes no cycle."""

    def __init__(self, hook: Callable, module: Any = None) -> None:
        self.hook = hook
        self.__name__ = getattr(hook, "__name__", type(hook).__name__)
        self.__doc__ = hook.__doc__
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


class _CallMixin:
    """Registration of a module's own hooks and the call that honours them."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; a result replaces the arguments.

        With ``with_kwargs`` it is ``hook(module, args, kwargs)`` and the result is ``(args, kwargs)``.
        """
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        self._forward_pre_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; a result replaces the output.

        ``always_call`` runs it even where ``forward`` or another hook raised.
        """
        handle = RemovableHandle(
            self._forward_hooks, extra_dict=[self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        )
        self._forward_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's backward; a result replaces ``grad_output``."""
        return _add(self._backward_pre_hooks, hook, prepend)

    def _set_backward_kind(self, *, is_full: bool) -> None:
        """Say that the module's backward hooks are full ones, or legacy ones; RuntimeError beside the other kind."""
        if self._is_full_backward_hook is (not is_full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = is_full

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a legacy backward hook, which sees the last node of the module only."""
        self._set_backward_kind(is_full=False)
        return _add(self._backward_hooks, hook)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the module's input gradients exist."""
        self._set_backward_kind(is_full=True)
        return _add(self._backward_hooks, hook, prepend)

    def _get_backward_hooks(self) -> tuple[list[Callable], list[Callable]]:
        full: list[Callable] = []
        legacy: list[Callable] = []
        if _global_hooks._BackwardKind.is_full is True:
            full += _global_backward_hooks.values()
        if self._is_full_backward_hook is True:
            full += self._backward_hooks.values()
        if _global_hooks._BackwardKind.is_full is False:
            legacy += _global_backward_hooks.values()
        if self._is_full_backward_hook is False:
            legacy += self._backward_hooks.values()
        return full, legacy

    def _get_backward_pre_hooks(self) -> list[Callable]:
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._backward_hooks
            or self._backward_pre_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
            or _global_backward_pre_hooks
            or _global_backward_hooks
            or _global_forward_hooks
            or _global_forward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    __call__ = _wrapped_call_impl

    def _call_with_hooks(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        done: set[int] = set()
        call = _Call(args, kwargs)
        try:
            return self._call_between_hooks(call, done)
        except Exception:
            self._run_always_called_hooks(call, done)
            raise

    def _call_between_hooks(self, call: "_Call", done: set[int]) -> Any:
        full_backward, legacy_backward = self._get_backward_hooks()
        backward_pre = self._get_backward_pre_hooks()
        self._run_forward_pre_hooks(call)
        around = BackwardHook(self, full_backward, backward_pre) if full_backward or backward_pre else None
        if around is not None:
            call.args = around.setup_input_hook(call.args)
        call.result = self.forward(*call.args, **call.kwargs)
        self._run_forward_hooks(call, done)
        if around is not None:
            if not isinstance(call.result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(call.result)}",
                    stacklevel=4,
                )
            call.result = around.setup_output_hook(call.result)
        if legacy_backward:
            self._attach_legacy_backward_hooks(legacy_backward, call)
        return call.result

    def _run_forward_pre_hooks(self, call: "_Call") -> None:
        for hook_id, hook in (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if hook_id in self._forward_pre_hooks_with_kwargs:
                replaced = hook(self, call.args, call.kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {replaced}."
                    )
                call.args, call.kwargs = replaced
            else:
                replaced = hook(self, call.args)
                if replaced is not None:
                    call.args = replaced if isinstance(replaced, tuple) else (replaced,)

    def _run_forward_hooks(self, call: "_Call", done: set[int]) -> None:
        for hook_id, hook in (*_global_forward_hooks.items(), *self._forward_hooks.items()):
            if hook_id in self._forward_hooks_always_called or hook_id in _global_forward_hooks_always_called:
                done.add(hook_id)
            replaced = self._run_forward_hook(hook_id, hook, call)
            if replaced is not None:
                call.result = replaced

    def _run_forward_hook(self, hook_id: int, hook: Callable, call: "_Call") -> Any:
        if hook_id in self._forward_hooks_with_kwargs or hook_id in _global_forward_hooks_with_kwargs:
            return hook(self, call.args, call.kwargs, call.result)
        return hook(self, call.args, call.result)

    def _run_always_called_hooks(self, call: "_Call", done: set[int]) -> None:
        for hooks, always, prefix in (
            (_global_forward_hooks, _global_forward_hooks_always_called, "global module forward hook"),
            (self._forward_hooks, self._forward_hooks_always_called, "module forward hook"),
        ):
            for hook_id, hook in hooks.items():
                if hook_id not in always or hook_id in done:
                    continue
                try:
                    replaced = self._run_forward_hook(hook_id, hook, call)
                except Exception as error:  # noqa: BLE001 - the error of forward itself must reach the caller
                    warnings.warn(
                        f"{prefix} with ``always_call=True`` raised an exception that was silenced as another error "
                        f"was raised in forward: {error}",
                        stacklevel=4,
                    )
                    continue
                if replaced is not None:
                    call.result = replaced

    def _attach_legacy_backward_hooks(self, hooks: list[Callable], call: "_Call") -> None:
        output = call.result
        while not isinstance(output, Tensor):
            if isinstance(output, dict):
                output = next(value for value in output.values() if isinstance(value, Tensor))
            else:
                output = output[0]
        grad_fn = output.grad_fn
        if grad_fn is None:
            return
        for hook in hooks:
            grad_fn.register_hook(_WrappedHook(hook, self))
        self._maybe_warn_non_full_backward_hook(call.args, call.result, grad_fn)

    def _maybe_warn_non_full_backward_hook(self, args: Any, result: Any, grad_fn: Any) -> None:
        reason = _why_legacy_hook_misses(args, result, grad_fn)
        if reason is not None:
            warnings.warn(reason, FutureWarning, stacklevel=2)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` at the end of ``state_dict``."""
        hook._from_public_api = True
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` collects."""
        return _add(self._state_dict_pre_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _add(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return _add(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` first."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after this module loaded; it may edit the key lists."""
        return _add(self._load_state_dict_post_hooks, hook)


class _Call:
    """Arguments and result of one call, as the hooks leave them."""

    __slots__ = ("args", "kwargs", "result")

    def __init__(self, args: tuple, kwargs: dict[str, Any]) -> None:
        self.args = args
        self.kwargs = kwargs
        self.result = None


def _add(hooks: OrderedDict[int, Any], hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    handle = add_hook(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _why_legacy_hook_misses(args: Any, result: Any, grad_fn: Any) -> str | None:
    """Return why a legacy backward hook on ``grad_fn`` does not see the module's whole backward, or None."""
    advice = "Please use register_full_backward_hook to get the documented behavior."
    if not isinstance(result, Tensor):
        if not (isinstance(result, tuple) and all(isinstance(r, Tensor) for r in result)):
            return (
                "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
                "is deprecated and will be removed in future versions. This hook will be missing some of the "
                f"grad_output. {advice}"
            )
    else:
        result = (result,)
    if not isinstance(args, Tensor):
        if not (isinstance(args, tuple) and all(isinstance(a, Tensor) for a in args)):
            return (
                "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
                "Tensors is deprecated and will be removed in future versions. This hook will be missing some of the "
                f"grad_input. {advice}"
            )
    else:
        args = (args,)
    output_nodes = {r.grad_fn for r in result if r.grad_fn is not None}
    if not output_nodes or (len(output_nodes) == 1 and grad_fn not in output_nodes):
        return (
            "Using a non-full backward hook when outputs are nested in python data structure is deprecated and will "
            "be removed in future versions. This hook will be missing some grad_output."
        )
    if len(output_nodes) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated and "
            f"will be removed in future versions. This hook will be missing some grad_output. {advice}"
        )
    input_nodes = {a.grad_fn for a in args if a.grad_fn is not None}
    next_nodes = {n[0] for n in grad_fn.next_functions}
    if input_nodes != next_nodes:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will "
            f"be removed in future versions. This hook will be missing some grad_input. {advice}"
        )
    return None
