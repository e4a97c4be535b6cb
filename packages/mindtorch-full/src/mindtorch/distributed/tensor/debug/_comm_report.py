"""What `CommDebugMode` has noted, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_TRIVIAL = frozenset(
    f"aten.{name}"
    for name in "detach.default t.default view.default _to_copy.default as_strided.default transpose.int".split()
)
_YELLOW, _RED, _PLAIN = "\033[1;33m", "\033[1;31m", "\033[0m"
_SHARED = ("input_shape", "input_sharding")

Operation = dict[str, Any]


def _passes(mode: Any, name: str) -> dict[str, list[Operation]]:
    """Return a module's operators: of forward, of backward, and of what ran again for a gradient."""
    noted = mode.comm_module_operation_counts.get(name, {"operations_list": []})["operations_list"]
    return {
        "forward": [one for one in noted if not one["is_bw"]],
        "backward": [one for one in noted if one["is_bw"] and not one["is_activation_checkpointing"]],
        "checkpointing": [one for one in noted if one["is_activation_checkpointing"]],
    }


def _wanted(operations: Iterable[Operation], level: int) -> list[Operation]:
    """Return the operators of a level: none, those of spread tensors, all but trivial ones, all."""
    return [
        one
        for one in operations
        if level > 0 and (level > 1 or one["input_sharding"]) and (level > 2 or str(one["name"]) not in _TRIVIAL)
    ]


def _counts(mode: Any, name: str, direction: str) -> dict[Any, int]:
    found: dict[Any, int] = mode.comm_module_counts.get(name, {}).get(direction, {})
    return found


def table(mode: Any, level: int) -> str:
    """Return the table of a level."""
    lines: list[str] = []
    for name, seen in mode.advanced_module_tracker.module_helper_dict.items():
        indent = "  " * (2 * seen["depth"])
        lines.append(f"{indent}{name}")
        if level > 0:
            lines += _module_lines(seen, indent)
        operations = _passes(mode, name)
        for direction, title in (("forward", "FORWARD PASS"), ("backward", "BACKWARD PASS")):
            counts, listed = _counts(mode, name, direction), operations[direction] if level > 0 else []
            if counts or listed:
                lines.append(f"{indent}  {title}")
                lines += [f"{_YELLOW}{indent}    *{packet}: {count}{_PLAIN}" for packet, count in counts.items()]
                lines += _operation_lines(_wanted(listed, level), indent)
        if level > 0 and operations["checkpointing"]:
            lines.append(f"{indent}  ACTIVATION CHECKPOINTING")
            lines += _operation_lines(_wanted(operations["checkpointing"], level), indent)
    return "".join(f"{line}\n" for line in lines)


def _module_lines(seen: dict[str, Any], indent: str) -> list[str]:
    lines = [f"{indent}*module type: {seen['module_type']}"] if "module_type" in seen else []
    if "parameters" in seen:
        lines.append(f"{indent}*Parameter List")
        lines += [f"{indent} *{key}: {placements}" for key, placements in seen["parameters"].items()]
    return lines


def _operation_lines(operations: Iterable[Operation], indent: str) -> list[str]:
    lines = []
    for one in operations:
        lines.append(f"{_YELLOW}{indent}    **{one['name']}{_PLAIN}")
        if one["input_shape"]:
            told = {"shape": one["input_shape"], "sharding": one["input_sharding"], "device mesh": one["device_mesh"]}
            lines += [f"{_RED}{indent}      {what}: {value}{_PLAIN}" for what, value in told.items()]
    return lines


def as_json(mode: Any, level: int) -> str:
    """Return what was noted, from `Global` down, as JSON."""
    return json.dumps(_described(mode, "Global", level), indent=4)


def _described(mode: Any, name: str, level: int) -> dict[str, Any]:
    seen = mode.advanced_module_tracker.module_helper_dict[name]
    operations = _passes(mode, name)
    described: dict[str, Any] = {
        "fqn": name,
        "module_type": seen.get("module_type", "") if level > 0 else "",
        "parameters": list(seen.get("parameters", {}).items()) if level > 0 else [],
        "children": [
            _described(mode, child, level) for child in mode.advanced_module_tracker.parent_dict.get(name, [])
        ],
    }
    for direction in ("forward", "backward"):
        described[f"collectives_{direction}"] = [
            (str(packet), count) for packet, count in _counts(mode, name, direction).items()
        ]
    for part, listed in operations.items():
        described[f"operations_{part}"] = [_as_texts(one) for one in _wanted(listed, level)]
    return described


def _as_texts(one: Operation) -> Operation:
    return one | {"name": str(one["name"])} | {key: list(map(str, one[key])) for key in _SHARED}
