"""An optimizer whose state dict names parameters as the module does, so that processes with other parameters can read it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from typing import Any

import mindtorch as torch
from mindtorch import nn, optim
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor

__all__: list[str] = []


class _NamedOptimizer(optim.Optimizer):
    """Wraps an optimizer."""

    def __init__(
        self,
        named_parameters: Mapping[str, Tensor],
        optimizer_class: Any,
        param_groups: Collection[Mapping[str, Any]] | None = None,
        module: nn.Module | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self.param_groups: Any = param_groups
        self._param_groups_check()
        self.named_parameters = dict(named_parameters)
        given = self.named_parameters.values() if param_groups is None else param_groups
        self._optimizer = optimizer_class(given, *args, **kwargs)
        self.module = module
        if param_groups is None:
            self.ordered_param_keys = list(self.named_parameters)
        else:
            warnings.warn(
                "Since we pass in param_groups, we will use param_groups to "
                "initialize the optimizer, not all parameters of the module.",
                stacklevel=2,
            )
            self.ordered_param_keys = self._keys_of(param_groups)
        self.param_groups = self._optimizer.param_groups

    def _keys_of(self, groups: Collection[Mapping[str, Any]]) -> list[str]:
        names = {param: key for key, param in self.named_parameters.items()}
        keys = []
        for group in groups:
            for param in group["params"]:
                if param not in names:
                    raise ValueError(f"Expect param name {param} found in param group but is missing.")
                keys.append(names[param])
        return keys

    def _param_groups_check(self) -> None:
        for group in self.param_groups or ():
            if not isinstance(group, dict):
                raise AssertionError("param group must be a dict")
            if "params" not in group:
                raise AssertionError("param group must contain key params")
            params = group["params"]
            group["params"] = [params] if isinstance(params, Tensor) else list(params)
            for param in group["params"]:
                if not isinstance(param, Tensor):
                    raise TypeError(
                        f"optimizer can only optimize Tensors, but one of the params is {torch.typename(param)}"
                    )

    @property
    def state(self) -> Any:  # type: ignore[override] # it is the wrapped one's
        """Return the state of the optimizer within."""
        return self._optimizer.state

    def state_dict(self) -> dict[str, Any]:
        """Return states and groups with the names of the parameters."""
        held = self._optimizer.state_dict()
        groups = [
            {**group, "params": sorted(self.ordered_param_keys[place] for place in group["params"])}
            for group in held["param_groups"]
        ]
        state = {self.ordered_param_keys[place]: value for place, value in held["state"].items()}
        return self._post_state_dict({"state": state, "param_groups": groups})

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override] # torch's gives nothing back
        """Step."""
        self._optimizer.step(closure=closure)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take states and groups of a dict, for the parameters that both have."""
        held, given = self._optimizer.state_dict(), self._pre_load_state_dict(state_dict)
        if not held["state"]:
            raise ValueError("Expects the optim to be initialized before load but found not initialized.")
        for place, key in enumerate(self.ordered_param_keys):
            if key in given["state"]:  # others were not trained where it was saved
                _fill(key, held["state"][place], given["state"][key])
        saved = {_gen_param_group_key(group["params"]): group for group in given["param_groups"]}
        for group in held["param_groups"]:
            keys = [self.ordered_param_keys[place] for place in group["params"]]
            found = saved.get(_gen_param_group_key(keys))
            if found is None:
                continue
            if len(found) != len(group):
                raise ValueError(
                    f"Expects equal param_group size as {len(group)} for group {_gen_param_group_key(keys)} but found "
                    f"{len(found)}."
                )
            for name in group:
                if name not in found:
                    raise ValueError(
                        f"Expects group key {name} to be in group {_gen_param_group_key(keys)} in `state_dict` but is "
                        "missing."
                    )
                if name != "params":
                    group[name] = deepcopy(found[name])
        self._optimizer.load_state_dict(held)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a group of parameters of the module."""
        if not isinstance(param_group, dict):
            raise AssertionError("param group must be a dict")
        params = param_group["params"]
        param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
        names = {param: key for key, param in self.named_parameters.items()}
        for param in param_group["params"]:
            if param not in names:
                raise ValueError("some parameters are not in the module")
            self.ordered_param_keys.append(names[param])
        self._optimizer.add_param_group(param_group)
        self.param_groups = self._optimizer.param_groups

    def init_state(self) -> None:
        """Make the states, by a step with gradients of zeros."""
        for param in self.named_parameters.values():
            if param.requires_grad:
                param.grad = torch.zeros_like(param)
        self.step(closure=None)

    def _pre_load_state_dict(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        return state_dict

    def _post_state_dict(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        return state_dict


def _fill(key: str, own: dict[str, Any], given: dict[str, Any]) -> None:
    """Take a parameter's state."""
    if len(given) != len(own):
        raise ValueError(f"Expects equal length as {len(own)} for parameter {key} but found: {len(given)}")
    for name, value in own.items():
        if name not in given:
            raise ValueError(f"Expects state {name} for parameter {key} but not found.")
        if isinstance(value, Tensor):
            value.detach().copy_(given[name])
        else:
            own[name] = deepcopy(given[name])


def _gen_param_group_key(param_keys: list[str]) -> str:
    """Return a name of a group: those of its parameters."""
    return "/".join(sorted(param_keys))


adopt(globals())
