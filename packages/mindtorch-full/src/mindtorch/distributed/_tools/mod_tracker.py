"""Which modules run at the moment, in forward and in backward."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.autograd.graph import register_multi_grad_hook
from mindtorch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils._pytree import tree_flatten
from mindtorch_autograd.running import current_graph_task_id

__all__ = ["ModTracker"]

Hook = Callable[..., None]


def _with_gradient(values: Any) -> list[Tensor]:
    """Return the tensors that take part in a graph."""
    return [one for one in tree_flatten(values)[0] if isinstance(one, Tensor) and one.requires_grad]


class ModTracker:
    """Knows the modules that run while it is entered: `parents` has their names from the root's on, and `Global`."""

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._active_module_cnt: dict[str, int] = {}
        self._known_modules: weakref.WeakKeyDictionary[nn.Module, str] = weakref.WeakKeyDictionary()
        self._seen_modules: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._has_callback = False
        self._post_bw_callbacks_to_enqueue: list[Callable[[], None]] = []
        self._user_pre_fw_hook: Hook | None = None
        self._user_post_fw_hook: Hook | None = None
        self._user_pre_bw_hook: Hook | None = None
        self._user_post_bw_hook: Hook | None = None

    def _maybe_set_engine_callback(self) -> None:
        """Let the end of this backward find no module running: gradients that nobody needed ended none."""
        if self._has_callback:
            return
        for queued in reversed(self._post_bw_callbacks_to_enqueue):
            torch.autograd.Variable._execution_engine.queue_callback(queued)
        self._post_bw_callbacks_to_enqueue.clear()

        def callback() -> None:
            self.parents = {"Global"}
            self._has_callback = False

        torch.autograd.Variable._execution_engine.queue_callback(callback)
        self._has_callback = True

    @property
    def is_bw(self) -> bool:
        """Whether a backward runs in this thread."""
        return current_graph_task_id() != -1

    def get_known_fqn(self, mod: nn.Module) -> str | None:
        """Return a module's name from the root's on, None for one that never ran."""
        return self._known_modules.get(mod)

    def register_user_hooks(
        self,
        pre_fw_hook: Hook | None = None,
        post_fw_hook: Hook | None = None,
        pre_bw_hook: Hook | None = None,
        post_bw_hook: Hook | None = None,
    ) -> None:
        """Call functions when a module begins and ends its forward and its backward; each may be given once."""
        given = {"pre_fw": pre_fw_hook, "post_fw": post_fw_hook, "pre_bw": pre_bw_hook, "post_bw": post_bw_hook}
        for name, hook in given.items():
            if hook is not None and getattr(self, f"_user_{name}_hook") is not None:
                raise AssertionError(f"{name}_hook is already registered")
            setattr(self, f"_user_{name}_hook", hook)

    def clear_user_hooks(self) -> None:
        """Forget those functions."""
        self._user_pre_fw_hook = self._user_post_fw_hook = None
        self._user_pre_bw_hook = self._user_post_bw_hook = None

    def _get_mod_name(self, mod: nn.Module) -> str:
        if mod not in self._known_modules:
            self._known_modules[mod] = type(mod).__name__
        name = self._known_modules[mod]
        if mod not in self._seen_modules:
            for child_name, child in mod.named_children():
                self._known_modules[child] = f"{name}.{child_name}"
                self._get_mod_name(child)
            self._seen_modules.add(mod)
        return name

    def _begin(self, mod: Callable[[], Any], name: str, in_backward: bool) -> Callable[..., Any]:
        def begin(*arguments: Any) -> None:
            if in_backward:
                self._maybe_set_engine_callback()
            if name in self.parents and not self.is_bw:
                warnings.warn(
                    "The module hierarchy tracking maybe be messed up. Please file a bug to PyTorch if it is the case.",
                    stacklevel=2,
                )
            self.parents.add(name)
            if in_backward and self._user_pre_bw_hook is not None:
                self._user_pre_bw_hook(mod(), arguments)

        return begin

    def _end(self, mod: Callable[[], Any], name: str) -> Callable[..., Any]:
        def end(*arguments: Any) -> None:
            if self._user_post_bw_hook is not None:
                self._user_post_bw_hook(mod(), arguments)
            self.parents.discard(name)

        return end

    def _fw_pre_hook(self, mod: nn.Module, input: Any) -> None:
        name, found = self._get_mod_name(mod), weakref.ref(mod)
        self._begin(found, name, False)()
        if self._user_pre_fw_hook is not None:
            self._user_pre_fw_hook(mod, input)
        tensors = _with_gradient(input)
        if not self.is_bw and tensors:  # what runs again within backward has ended already
            register_multi_grad_hook(tensors, self._end(found, name))

    def _fw_post_hook(self, mod: nn.Module, input: Any, output: Any) -> None:
        name, found = self._get_mod_name(mod), weakref.ref(mod)
        if self._user_post_fw_hook is not None:
            self._user_post_fw_hook(mod, input, output)
        if not self.is_bw:
            self.parents.discard(name)
        tensors = _with_gradient(output)
        if not self.is_bw and tensors:
            register_multi_grad_hook(tensors, self._begin(found, name, True), mode="any")

    def __enter__(self) -> ModTracker:
        self._fw_pre_handle = register_module_forward_pre_hook(self._fw_pre_hook)
        self._fw_post_handle = register_module_forward_hook(self._fw_post_hook, always_call=True)
        return self

    def __exit__(self, *args: object) -> None:
        self._fw_pre_handle.remove()
        self._fw_post_handle.remove()


adopt(globals())
