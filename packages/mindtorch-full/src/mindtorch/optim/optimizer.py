"""The base class of all optimizers."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import chain
from typing import Any, TypeAlias

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._profiling.record import record_function
from mindtorch.nn._gradients import reset_gradient
from mindtorch.utils._foreach_utils import (
    _get_foreach_kernels_supported_devices,
    _get_fused_kernels_supported_devices,
    _group_tensors_by_device_and_dtype,
)
from mindtorch.utils.backend_registration import _get_privateuse1_backend_name
from mindtorch.utils.hooks import RemovableHandle

from ._state import load_groups_and_state, pack_groups_and_state, place_state_value
from ._step_hooks import (
    add_hook,
    global_post_hooks,
    global_pre_hooks,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from ._values import get_value as _get_value
from ._values import scalar_dtype as _get_scalar_dtype
from ._values import to_scalar as _to_scalar
from ._values import use_grad_for_differentiable as _use_grad_for_differentiable

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

ParamsT: TypeAlias = Iterable[Any]
_HOOK_DICTS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Return the devices whose steps may be recorded as a graph."""
    return ["cuda", "xpu", "hpu", _get_privateuse1_backend_name(), *(["xla"] if supports_xla else [])]


def _default_to_fused_or_foreach(
    params: list[torch.Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether a step takes the fused form, and whether that over lists, where the caller did not choose."""
    given = [one for one in params if one is not None]
    if differentiable or any(type(one) not in _foreach_supported_types for one in given):
        return False, False
    devices = {one.device.type for one in given}
    fused = use_fused and devices <= set(_get_fused_kernels_supported_devices())
    fused = fused and all(one.is_floating_point() for one in given)
    return fused, not fused and devices <= set(_get_foreach_kernels_supported_devices())


class _RequiredParameter:
    """The default of a group option that has none."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()
_foreach_supported_types = (torch.Tensor, torch.nn.Parameter)


class Optimizer:
    """Parameter groups, per-parameter state, hooks and checkpoints; subclasses add ``step``.

    >>> x = torch.ones(2, requires_grad=True)
    >>> optimizer = torch.optim.SGD([x], lr=0.1)
    >>> isinstance(optimizer, torch.optim.Optimizer)
    True
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.9000, 0.9000], requires_grad=True)
    """

    OptimizerPreHook: TypeAlias = Callable[..., Any]
    OptimizerPostHook: TypeAlias = Callable[..., None]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOK_DICTS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, torch.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be "
                "an iterable of Tensors or dicts, but got " + torch.typename(params)
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        # Graph capture asks whether the user was warned already; nothing here captures yet.
        self._warned_capturable_if_run_uncaptured = True

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOK_DICTS:
            if name not in self.__dict__:
                setattr(self, name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = self.__class__.__name__ + " ("
        for index, group in enumerate(self.param_groups):
            text += f"\nParameter Group {index}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def _accelerator_graph_capture_health_check(self) -> None:
        """Nothing to check: no device of ours captures graphs yet."""

    def _cuda_graph_capture_health_check(self) -> None:
        """The older name of the same check."""
        self._accelerator_graph_capture_health_check()

    def _optimizer_step_code(self) -> None:
        """A place for profilers to hook into; does nothing."""

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a ``step``: name it for the profiler and run the step hooks around it."""

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            with record_function(f"Optimizer.step#{self.__class__.__name__}.step"):
                for hook in chain(global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                    result = hook(self, args, kwargs)
                    if result is None:
                        continue
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError(
                            f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                        )
                    args, kwargs = result
                out = func(*args, **kwargs)
                self._optimizer_step_code()
                for hook in chain(self._optimizer_step_post_hooks.values(), global_post_hooks.values()):
                    hook(self, args, kwargs)
                return out

        return wrapper

    def _patch_step_function(self) -> None:
        """Wrap this class's ``step`` once, however the subclass defined it."""
        cls = self.__class__
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{cls.__name__}.zero_grad"
        if not getattr(cls.step, "hooked", None):
            cls.step = self.profile_hook_step(cls.step)  # type: ignore[method-assign]
            cls.step.hooked = True  # type: ignore[attr-defined]

    def register_step_pre_hook(self, hook: Optimizer.OptimizerPreHook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before ``step``; it may return new ``(args, kwargs)``."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Optimizer.OptimizerPostHook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after ``step``."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict``."""
        return add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after ``state_dict``; it may return another one."""
        return add_hook(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; it may return another state dict."""
        return add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters replaced by their index in the groups."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        packed = pack_groups_and_state(self.param_groups, self.state)
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, packed)
            if replaced is not None:
                packed = replaced
        return packed

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Any, value: Any, param_id: int, param_groups: list[dict[Any, Any]], key: Hashable = None
    ) -> Any:
        """Where a loaded state tensor lives: with its parameter, but for host-side step counters."""
        return place_state_value(param, value, param_id, param_groups, key)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned. Options in the saved groups win over the current ones."""
        loaded = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, loaded)
            if replaced is not None:
                loaded = replaced
        place = self._process_value_according_to_param_policy
        self.__setstate__(load_groups_and_state(self.param_groups, loaded, place))
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist: list[list[torch.Tensor | None]], with_indices: bool = False
    ) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        if not hasattr(self, "_zero_grad_profile_name"):
            self._patch_step_function()
        with record_function(self._zero_grad_profile_name):
            for group in self.param_groups:
                for param in group["params"]:
                    reset_gradient(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once; every optimizer defines its own."""
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own; options left out come from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, torch.Tensor):
            param_group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but "
                "the ordering of tensors in sets will change between runs. Please use a list instead."
            )
        else:
            param_group["params"] = list(params)
        _split_names(param_group)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_disjoint(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, torch.Tensor):
            raise TypeError("optimizer can only optimize Tensors, but one of the params is " + torch.typename(param))
        if not self.defaults.get("differentiable", None) and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_disjoint(self, param_group: dict[str, Any]) -> None:
        params = param_group["params"]
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        known: set[Any] = set()
        for group in self.param_groups:
            known.update(group["params"])
            if ("param_names" in param_group) != ("param_names" in group):
                current = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {current} to the optimizer"
                )
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")


def _split_names(param_group: dict[str, Any]) -> None:
    """Turn ``(name, parameter)`` pairs into parameters and a list of names beside them."""
    entries = param_group["params"]
    named = [entry for entry in entries if isinstance(entry, tuple)]
    if not named:
        return
    if len(named) != len(entries):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    param_group["param_names"] = [entry[0] for entry in entries]
    param_group["params"] = [entry[1] for entry in entries]


_ = (_get_value, _get_scalar_dtype, _to_scalar, _use_grad_for_differentiable)  # names other code imports from here

adopt(globals())
