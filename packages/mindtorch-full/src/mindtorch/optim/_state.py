"""An optimizer's checkpoint: parameters by index going out, by identity coming in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import mindtorch as torch


def pack_groups_and_state(param_groups: list[dict[str, Any]], state: dict[Any, Any]) -> dict[str, Any]:
    """The ``state_dict`` of these groups. A parameter's index counts parameters across groups, repeats included."""
    index_of: dict[int, int] = {}
    packed_groups = []
    start = 0
    for group in param_groups:
        for offset, param in enumerate(group["params"]):
            index_of.setdefault(id(param), start + offset)
        packed = {key: value for key, value in group.items() if key != "params"}
        packed["params"] = [index_of[id(param)] for param in group["params"]]
        packed_groups.append(packed)
        start += len(group["params"])
    packed_state = {
        (index_of[id(key)] if isinstance(key, torch.Tensor) else key): value for key, value in state.items()
    }
    return {"state": packed_state, "param_groups": packed_groups}


def place_state_value(
    param: Any, value: Any, param_id: int, param_groups: list[dict[Any, Any]], key: Hashable = None
) -> Any:
    """Move one loaded state tensor to its parameter's device and, for floating parameters, dtype.

    Step counters stay as they were saved: casting them to a half type would stall them. Only where a kernel reads
    them (fused, capturable) they go to the parameter's device in float32.
    """
    on_device = False
    for group in param_groups:
        if param_id in group["params"]:
            on_device = bool(group.get("fused") or group.get("capturable"))
            break
    if key == "step":
        return value.to(dtype=torch.float32, device=param.device) if on_device else value
    if param.is_floating_point():
        return value.to(dtype=param.dtype, device=param.device)
    return value.to(device=param.device)


def load_groups_and_state(
    current: list[dict[str, Any]], loaded: dict[str, Any], place: Callable[..., Any]
) -> dict[str, Any]:
    """What ``__setstate__`` gets: loaded options and state on the current parameters."""
    saved_groups = deepcopy(loaded["param_groups"])
    if len(current) != len(saved_groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(old["params"]) != len(new["params"]) for old, new in zip(current, saved_groups, strict=True)):
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
        )
    param_of = dict(
        zip(
            chain.from_iterable(group["params"] for group in saved_groups),
            chain.from_iterable(group["params"] for group in current),
            strict=True,
        )
    )

    def cast(param: Any, value: Any, param_id: int, key: Hashable = None) -> Any:
        if isinstance(value, torch.Tensor):
            return place(param, value, param_id, loaded["param_groups"], key)
        if isinstance(value, dict):
            return {name: cast(param, inner, param_id, name) for name, inner in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            return type(value)(cast(param, inner, param_id) for inner in value)  # type: ignore[call-arg]
        return value

    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in loaded["state"].items():
        if key in param_of:
            state[param_of[key]] = cast(param_of[key], value, key)
        else:
            state[key] = value
    for old, new in zip(current, saved_groups, strict=True):
        new["params"] = old["params"]
        if "param_names" in old and "param_names" not in new:
            new["param_names"] = old["param_names"]
    return {"state": state, "param_groups": saved_groups}
