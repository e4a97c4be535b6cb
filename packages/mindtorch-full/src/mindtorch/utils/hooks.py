"""Handles of registered hooks, and the machinery behind ``Module.register_full_backward_hook``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch_autograd.hooks import RemovableHandle
from mindtorch_dispatch.state import state
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_functions = LazyModule("mindtorch.nn.modules._functions", "modules use hooks")


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook as one that saving a tensor may drop, with a warning.

    >>> @torch.utils.hooks.unserializable_hook
    ... def hook(grad):
    ...     return grad
    >>> hook.__torch_unserializable__
    True
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn once per hook that pickling ``tensor`` would lose.

    >>> import warnings
    >>> x = torch.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad)
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     torch.utils.hooks.warn_if_has_hooks(x)
    >>> len(found), "hooks on a Tensor are" in str(found[0].message)
    (1, False)
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


class BackwardHook:
    """Runs a module's backward hooks when the gradients of its inputs and outputs are known.

    The module's tensors pass through one identity node on the way in and one on the way out. The output node
    sees ``grad_output`` (pre-hooks may change it), the input node sees ``grad_input`` (hooks may change it).

    >>> layer = torch.nn.ReLU()
    >>> hook = torch.utils.hooks.BackwardHook(layer, [lambda module, gin, gout: print(gin, gout)], [])
    >>> x = torch.tensor([-1.0, 1.0], requires_grad=True)
    >>> y = hook.setup_output_hook(layer(*hook.setup_input_hook((x,))))
    >>> y.sum().backward()
    (tensor([0., 1.]),) (tensor([1., 1.]),)
    """

    def __init__(self, module: Any, user_hooks: Any, user_pre_hooks: Any) -> None:
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.module = module
        self.grad_outputs: Any = None
        self.n_outputs = -1
        self.output_tensors_index: list[int] | None = None
        self.n_inputs = -1
        self.input_tensors_index: list[int] | None = None

    def _pack_with_none(self, indices: list[int], values: Any, size: int) -> tuple[Any, ...]:
        packed: list[Any] = [None] * size
        for index, value in zip(indices, values, strict=True):
            packed[index] = value
        return tuple(packed)

    def _unpack_none(self, indices: list[int], values: Any) -> tuple[Any, ...]:
        return tuple(values[index] for index in indices)

    def _run_user_hooks(self, grad_input: Any) -> Any:
        """Call the user's hooks on the gradient of the inputs and return what they made of it."""
        changed = None
        for hook in self.user_hooks:
            given = hook(self.module, grad_input, self.grad_outputs)
            if given is None:
                continue
            if len(given) != len(grad_input):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(given)}, but expected {len(grad_input)}"
                )
            grad_input = changed = given
        return changed

    def _set_user_hook(self, grad_fn: Any) -> None:
        def on_input_grad(grad_input: Any, _: Any) -> Any:
            if self.grad_outputs is None:
                # The output node did not run: this backward does not go through the module's outputs.
                return None
            full = self._pack_with_none(self.input_tensors_index, grad_input, self.n_inputs)
            changed = self._run_user_hooks(full)
            self.grad_outputs = None
            return None if changed is None else self._unpack_none(self.input_tensors_index, changed)

        grad_fn.register_hook(on_input_grad)

    def _apply_on_tensors(self, fn: Callable[[Any], None], args: Any) -> tuple[Any, list[int] | None]:
        indices = [i for i, arg in enumerate(args) if isinstance(arg, TensorBase)]
        tensors = [args[i] for i in indices]
        if not (state.mode.grad and any(tensor.requires_grad for tensor in tensors)):
            return args, None
        passed = _functions.BackwardHookFunction.apply(*tensors)
        if not passed:
            raise RuntimeError("Cannot set Module backward hook for a Module with no input Tensors.")
        nodes = [
            t.grad_fn for t in passed if t.grad_fn is not None and t.grad_fn.name() == "BackwardHookFunctionBackward"
        ]
        if not nodes:
            raise RuntimeError(
                "Error while setting up backward hooks. Please open an issue with a code sample to reproduce this."
            )
        fn(nodes[0])
        replaced = list(args)
        for index, tensor in zip(indices, passed, strict=True):
            replaced[index] = tensor
        if type(args) is tuple:
            return tuple(replaced), indices
        return type(args)(*replaced), indices  # a named tuple

    def setup_input_hook(self, args: Any) -> Any:
        """Pass the module's inputs through the input node."""
        passed, indices = self._apply_on_tensors(self._set_user_hook, args)
        self.n_inputs, self.input_tensors_index = len(args), indices
        return passed

    def _on_output_grad(self, _: Any, grad_output: Any) -> Any:
        self.grad_outputs = self._pack_with_none(self.output_tensors_index, grad_output, self.n_outputs)
        for pre_hook in self.user_pre_hooks or ():
            out = pre_hook(self.module, self.grad_outputs)
            if out is None:
                continue
            if len(out) != len(self.grad_outputs):
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(out)}, but expected {len(self.grad_outputs)}"
                )
            self.grad_outputs = out
        changed = self._unpack_none(self.output_tensors_index, self.grad_outputs)
        if self.input_tensors_index is None:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#"
                "torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=5,
            )
            # No input needs a gradient, so no input node will run: the hooks run here with nothing to change.
            given = self._run_user_hooks(self._pack_with_none([], [], self.n_inputs))
            if given is not None and not (isinstance(given, tuple) and all(one is None for one in given)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires "
                    "gradient should always return None or None for all gradients."
                )
            self.grad_outputs = None
        return changed if self.user_pre_hooks is not None else None

    def setup_output_hook(self, args: Any) -> Any:
        """Pass the module's outputs through the output node."""

        def watch(grad_fn: Any) -> None:
            def hook(grad_output: Any) -> Any:  # the name that errors show
                return self._on_output_grad(None, grad_output)

            grad_fn.register_prehook(hook)

        single = not isinstance(args, tuple)
        passed, indices = self._apply_on_tensors(watch, (args,) if single else args)
        self.n_outputs, self.output_tensors_index = len(passed), indices
        return passed[0] if single else passed


adopt(globals())
