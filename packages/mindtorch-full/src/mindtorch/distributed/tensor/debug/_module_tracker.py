"""Which module runs, in which it lies, and how its parameters lie."""

from __future__ import annotations

from typing import Any

from mindtorch.distributed._tools.mod_tracker import ModTracker
from mindtorch.distributed.tensor._api import DTensor
from mindtorch.nn.modules.module import register_module_full_backward_pre_hook


class ModuleTracker(ModTracker):
    """Knows the module that runs by its name, `Global` outside of all, and what was seen of every module that ran."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "Global"
        self.activation_checkpointing = False
        self.module_helper_dict: dict[str, dict[str, Any]] = {}
        self.module_parameters_dict: dict[str, dict[str, Any]] = {}
        self.module_parents_dict: dict[str, set[str]] = {}
        self.parent_dict: dict[str, list[str]] = {}
        self.sharding_dict: dict[str, Any] = {}
        self._running = ["Global"]

    def __enter__(self) -> ModuleTracker:
        for known in (self.module_parameters_dict, self.sharding_dict, self.parent_dict):
            known.clear()
        self.name, self._running, self.activation_checkpointing = "Global", ["Global"], False
        self.module_helper_dict = {"Global": {"depth": 0}}
        self.module_parents_dict = {"Global": set()}
        super().__enter__()
        self._bw_handle = register_module_full_backward_pre_hook(self._bw_pre_hook)
        return self

    def __exit__(self, *args: object) -> None:
        super().__exit__(*args)
        self._bw_handle.remove()

    def _fw_pre_hook(self, mod: Any, input: Any) -> None:
        super()._fw_pre_hook(mod, input)
        self.activation_checkpointing = self.is_bw
        self.name = self._get_mod_name(mod)
        if self.is_bw:  # a module that runs again for its gradient
            return
        self._see(mod, self.name)
        self.module_parents_dict.setdefault(self.name, set(self.parents))
        self.parent_dict.setdefault(self._running[-1], []).append(self.name)
        self._running.append(self.name)
        self._leave_after_hooks(mod)

    def _see(self, mod: Any, name: str) -> None:
        """Note a module's type, its depth and its parameters."""
        seen = self.module_helper_dict.setdefault(name, {})
        seen["module_type"] = str(type(mod)).replace("<", "").replace(">", "")
        seen["depth"] = len(self.parents) - 1
        for key, parameter in mod.named_parameters(recurse=False):
            self.module_parameters_dict.setdefault(name, {})[key] = parameter.data
            if isinstance(parameter.data, DTensor):
                self.sharding_dict[f"{name}.{key}"] = parameter.data.placements
                seen.setdefault("parameters", {})[key] = str(parameter.data.placements)

    def _leave_after_hooks(self, mod: Any) -> None:
        """Let the module run until its own hooks have: what they begin is the module's."""

        def leave(*arguments: Any) -> None:
            handle.remove()
            if len(self._running) > 1:
                self._running.pop()
                self.name = self._running[-1]

        handle = mod.register_forward_hook(leave)

    def _bw_pre_hook(self, mod: Any, grad: Any) -> None:
        self.activation_checkpointing = False
        self.name = self._get_mod_name(mod)
