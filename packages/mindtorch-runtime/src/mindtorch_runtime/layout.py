"""What the native module shares with Python: the slots it reads and the objects it works with, declared once.

CMake makes `layout.h` of this file: a struct with the offset of every slot, the classes and the objects, and `HASH`. When
`native` is imported `native.install` hands over the classes and objects named here; offsets are looked up by name, and
a module that was made from another declaration is not used.

    python layout.py layout.h

This file imports the standard library alone: it runs where the package is not installed yet.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading

    from mindtorch_dispatch.meta.rule import Start
    from mindtorch_dispatch.pipeline import Pipeline
    from mindtorch_dispatch.plan import Plan
    from mindtorch_dispatch.plan.overlap import OverlapCheck
    from mindtorch_dispatch.state import Mode
    from mindtorch_dispatch.table import Packet
    from mindtorch_storage.device import device
    from mindtorch_storage.dtype import dtype
    from mindtorch_storage.spec import Signature, Spec
    from mindtorch_storage.storage import UntypedStorage
    from mindtorch_storage.storage.memory import HostAllocation
    from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, ViewInfo


@dataclass(frozen=True)
class Classes:
    """The classes of storage and dispatch; a field's name is that of its slots in C++."""

    tensor: type[TensorBase]
    signature: type[Signature]
    spec: type[Spec]
    storage: type[UntypedStorage]
    allocation: type[HostAllocation]
    view: type[ViewInfo]
    meta: type[AutogradMeta]
    plan: type[Plan]
    packet: type[Packet]
    start: type[Start]
    mode: type[Mode]
    overlap: type[OverlapCheck]
    pipeline: type[Pipeline]
    dtype: type[dtype]


@dataclass(frozen=True)
class AutogradClasses:
    """Those of autograd, where there is one."""

    recorder: type
    node: type
    leaf: type
    task: type
    result: type
    save: type
    formula: type


@dataclass(frozen=True)
class Objects:
    """The objects of storage, dispatch and numpy."""

    state: threading.local
    """The dispatcher's thread-local state."""
    default_mode: Mode
    """Of a thread that set none."""
    deferred: threading.local
    """The thread-local state of deferred execution."""
    plain_types: set[type]
    fingerprint: Callable[..., Any]
    """Part of a key, for what is rare."""
    unplannable: type[Exception]
    """What `fingerprint` raises."""
    plan_member: Callable[..., Any]
    """`plan_member(family, plans, key, flat)`"""
    run_again: Callable[..., Any]
    """`run_again(plan, flat, error)`"""
    relate: Callable[..., Any]
    """`relate(plan, base, view)`"""
    run_kernel: Callable[..., Any]
    run_kernel_outputs: Callable[..., Any]
    run_inplace: Callable[..., Any]
    run_view: Callable[..., Any]
    run_views: Callable[..., Any]
    run_composite: Callable[..., Any]
    record_kernel: Callable[..., Any]
    record_inplace: Callable[..., Any]
    record_view: Callable[..., Any]
    fill_kernel: Callable[..., Any]
    fill_inplace: Callable[..., Any]
    fill_view: Callable[..., Any]
    empty: Callable[..., Any]
    """`numpy.empty`"""
    enter: Callable[..., Any]
    """Sets numpy's error state."""
    leave: Callable[..., Any]
    silent: Any
    """The state in which numpy says nothing."""
    error_state: ContextVar[Any] | None
    """numpy's context variable, None where it has none."""
    array_types: dict[str, Any]
    """The arrays of device types."""
    tensor_class: list[type]
    """The class of results."""
    cpu: device


@dataclass(frozen=True)
class AutogradObjects:
    """The objects of autograd."""

    after: Callable[..., Any]
    """`Recorder.after`"""
    sequence: Iterator[int]
    """The counter of nodes."""
    anomaly: Any
    """Its settings."""
    gradient_edge: Callable[..., Any]
    nowhere: Any
    add: Callable[..., Any]
    add_in_place: Callable[..., Any]
    fit: Callable[..., Any]
    """`fit(grad, spec, node, index)`"""
    unpack: Callable[..., Any]
    """`unpack(node, item, version)`"""
    save_tensor: Any
    """The kinds of saves that are made here."""
    save_scalar: Any
    save_offset: Any
    save_result: Any


SLOTS: dict[str, str] = {
    "tensor": "_sig _array _storage _offset _counter _grad_fn _output_nr _view _meta _pipe",
    "signature": "spec requires_grad inference _kind",
    "spec": "shape np_dtype np_strides plain",
    "storage": "device _allocation buffer",
    "allocation": "buffer nbytes resizable lent shared filename",
    "view": "attr_version base creation leaf",
    "meta": "accumulator grad hooks post_accumulate_hooks",
    "plan": "run alloc kernel before prepare record tensors values cls sig source scalars lists casts wraps outputs pack "
    "offset creation follows native",
    "packet": "plans",
    "start": "place extent step clamped",
    "mode": "grad function_modes dispatch_modes inference overriding include exclude forward_ad profiling",
    "overlap": "before",
    "pipeline": "records limit",
    "dtype": "",
    "recorder": "cls plain single edges outputs saves saves_tensors formulas environment native",
    "node": "_recorder _hooks _seq _outputs _edges _saved",
    "leaf": "_hooks variable",
    "task": "node needed captures keep_graph",
    "result": "alias number owner",
    "save": "kind source place",
    "formula": "fn targets listed wants_first places needs counts",
}
"""The slots of every class that native code reads or fills; in C++ without the underscore that some begin with."""

PARTS = {"dispatch": (Classes, Objects), "autograd": (AutogradClasses, AutogradObjects)}
"""What is handed over together: the classes and the objects, in the order of their fields."""


def names(kind: type) -> list[str]:
    """Return the fields of one of `PARTS`' classes in order."""
    return [field.name for field in fields(kind)]


def values(given: object) -> tuple[Any, ...]:
    """Return what the fields hold, in order, as the module takes it."""
    return tuple(getattr(given, name) for name in names(type(given)))


HASH = hashlib.sha256(
    repr([(part, names(kinds), names(objects)) for part, (kinds, objects) in PARTS.items()]).encode()
    + repr(sorted(SLOTS.items())).encode()
).hexdigest()[:16]
"""What the native module must have been built from."""


def header() -> str:
    """Return the declaration for C++."""
    lines = [
        "// Made by layout.py; do not edit.",
        "#pragma once",
        "",
        "#include <Python.h>",
        "",
        "#include <stddef.h>",
        "",
    ]
    lines += ["namespace mindtorch {", "", f'constexpr char LAYOUT_HASH[] = "{HASH}";', "", "struct Shared {"]
    for group, words in SLOTS.items():
        if words:
            members = ", ".join(f"{name.lstrip('_')} = 0" for name in words.split())
            lines.append(f"    struct {{ Py_ssize_t {members}; }} {group};")
    for kinds, objects in PARTS.values():
        lines += [f"    PyTypeObject* {name}_type = nullptr;" for name in names(kinds)]
        lines += [f"    PyObject* {name} = nullptr;" for name in names(objects)]
    lines += ["};", "", "// A slot of the class with this number, and where its offset goes in `Shared`."]
    lines += ["struct SharedSlot { size_t cls; const char* name; size_t place; };", ""]
    for part, (kinds, objects) in PARTS.items():
        slots = [
            f'    {{{number}, "{slot}", offsetof(Shared, {name}.{slot.lstrip("_")})}},'
            for number, name in enumerate(names(kinds))
            for slot in SLOTS[name].split()
        ]
        lines += [f"constexpr SharedSlot {part}_slots[] = {{", *slots, "};"]
        lines += [
            f"constexpr size_t {part}_types[] = {{",
            *(f"    offsetof(Shared, {n}_type)," for n in names(kinds)),
            "};",
        ]
        lines += [
            f"constexpr size_t {part}_objects[] = {{",
            *(f"    offsetof(Shared, {n})," for n in names(objects)),
            "};",
            "",
        ]
    return "\n".join([*lines, "}  // namespace mindtorch", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(header(), encoding="utf-8")
