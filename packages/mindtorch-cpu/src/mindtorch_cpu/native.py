"""The native module `mindtorch_cpu._native`, where it is built: the executor's twin and kernels for dense operands.

`MINDTORCH_NATIVE=0` ignores it, `1` demands it, unset takes it where it is there. It changes speed and nothing else.
`MINDTORCH_INSTRUCTIONS` (base, v2, v3, v4) keeps its loops from wider instructions than it names; unset, they are the
widest that the processor has (`module.INSTRUCTIONS`).
"""

from __future__ import annotations

import os
import warnings
from contextvars import ContextVar
from typing import Any

import numpy as np

from mindtorch_dispatch import call, plan, table
from mindtorch_dispatch.execute import arrays, errstate, executor
from mindtorch_dispatch.interface.autograd import hooks
from mindtorch_dispatch.interface.native import twin
from mindtorch_dispatch.meta.rule import Start
from mindtorch_dispatch.pipeline import Pipeline, record
from mindtorch_dispatch.plan.overlap import OverlapCheck
from mindtorch_dispatch.state import DEFAULT_MODE, Mode, state
from mindtorch_storage import deferred
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bfloat16
from mindtorch_storage.lazy_import import load as load_module
from mindtorch_storage.spec import Signature, Spec
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.storage.memory import HostAllocation
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, ViewInfo

from . import host_memory, layout, lists, reduced
from .generator import default_generator
from .random.capability import capability
from .steps import steps
from .threads import threads

SETS = ("base", "v2", "v3", "v4")
"""Instruction sets that loops are built for: the least of a processor's family, then x86-64's levels."""

STEPS = "steps."
"""What begins the names of native kernels that stand before what several families' numpy kernels do (`steps.steps`)."""


def load() -> Any:
    """Return the native module, None where it is absent or not wanted.

    Raises ValueError for a value that one of the two variables cannot have, ImportError where it is 1 and no module loads.
    """
    wanted = os.environ.get("MINDTORCH_NATIVE", "")
    if wanted not in ("", "0", "1"):
        raise ValueError(f"MINDTORCH_NATIVE is 0, 1 or unset, not {wanted!r}")
    instructions = os.environ.get("MINDTORCH_INSTRUCTIONS", "")
    if instructions not in ("", *SETS):
        raise ValueError(f"MINDTORCH_INSTRUCTIONS is one of {', '.join(SETS)} or unset, not {instructions!r}")
    if wanted == "0":
        return None
    try:
        module = load_module("mindtorch_cpu._native")
    except ModuleNotFoundError:
        if wanted == "1":
            raise ImportError("MINDTORCH_NATIVE=1, but mindtorch-cpu was installed without its native module") from None
        return None
    except ImportError as error:
        if wanted == "1":
            raise
        # It is there, but a library of the system's that it needs is not: the wheels bring no copy of OpenMP.
        warnings.warn(
            f"mindtorch-cpu's native module cannot be loaded ({error}); numpy kernels are used. "
            "Where libgomp.so.1 is missing: apt-get install libgomp1, or dnf install libgomp",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    if getattr(module, "LAYOUT", None) == layout.HASH:
        return module
    text = "the native module of mindtorch-cpu was built from another version of its source: build it anew"
    if wanted == "1":
        raise ImportError(text)
    warnings.warn(f"{text}; numpy kernels are used", RuntimeWarning, stacklevel=2)
    return None


def _with_native(module: Any, row: str, takes_halves: bool) -> table.Kernel:
    """Return the row's kernel with the native one before numpy's."""
    entry = table.kernels["cpu"][row]
    fallback = reduced.widening(module.kernel(row, entry.fn), entry.fn) if takes_halves else entry.fn
    return table.Kernel(module.kernel(row, fallback), entry.upcast, entry.aliases_ok, takes_halves)


def rows() -> list[str]:
    """Return the rows whose numpy kernels a native one stands before."""
    names = [row for words, _ in module.kernels() for row in words.split()] if module else []
    return [row for row in names if not row.startswith(STEPS)]


def _shared() -> tuple[layout.Classes, layout.Objects]:
    """Return what native code works with, of storage and dispatch."""
    classes = layout.Classes(
        tensor=TensorBase,
        signature=Signature,
        spec=Spec,
        storage=UntypedStorage,
        allocation=HostAllocation,
        view=ViewInfo,
        meta=AutogradMeta,
        plan=plan.Plan,
        packet=table.Packet,
        start=Start,
        mode=Mode,
        overlap=OverlapCheck,
        pipeline=Pipeline,
        dtype=type(bfloat16),
    )
    variable = getattr(errstate.enter, "__self__", None)
    objects = layout.Objects(
        state=state,
        default_mode=DEFAULT_MODE,
        deferred=deferred.thread,
        plain_types=plan.plain_types,
        fingerprint=call.fingerprint,
        unplannable=call.Unplannable,
        run_again=call.run_again,
        relate=executor.relate,
        run_kernel=executor.run_kernel,
        run_kernel_outputs=executor.run_kernel_outputs,
        run_inplace=executor.run_inplace,
        run_view=executor.run_view,
        run_views=executor.run_views,
        run_composite=executor.run_composite,
        record_kernel=record.record_kernel,
        record_inplace=record.record_inplace,
        record_view=record.record_view,
        fill_kernel=record.fill_kernel,
        fill_inplace=record.fill_inplace,
        fill_view=record.fill_view,
        empty=np.empty,
        enter=errstate.enter,
        leave=errstate.leave,
        silent=errstate.SILENT,
        error_state=variable if isinstance(variable, ContextVar) else None,
        array_types=arrays.array_types,
        tensor_class=twin.tensor_class,
        cpu=Device("cpu"),
        bfloat16_dtype=bfloat16.np,
    )
    return classes, objects


def _of_autograd(parts: dict[str, Any]) -> tuple[layout.AutogradClasses, layout.AutogradObjects]:
    """Return the same of autograd, of what it says a twin works with."""
    classes = layout.AutogradClasses(
        recorder=parts["Recorder"],
        node=parts["OpNode"],
        leaf=parts["AccumulateGrad"],
        task=parts["GraphTask"],
        result=parts["SavedResult"],
    )
    kept = {name: parts[name] for name in layout.names(layout.AutogradObjects) if name != "after"}
    return classes, layout.AutogradObjects(after=parts["Recorder"].after, **kept)


def install(module: Any) -> None:
    """Put the module's executor into the call path, and its kernels before numpy's."""
    module.install(*map(layout.values, _shared()))
    if hooks.parts:
        module.install_autograd(*map(layout.values, _of_autograd(hooks.parts)))
    module.draw_from(default_generator, capability.fused, capability.vector_normal)
    for rows, takes_halves in module.kernels():
        for row in rows.split():
            if row.startswith(STEPS):
                step = row.removeprefix(STEPS)
                steps[step] = module.kernel(row, steps[step])
            else:
                table.kernels["cpu"][row] = _with_native(module, row, takes_halves)
    lists.install(module)
    host_memory.install(module)
    threads.use_pool(module)
    if "install_loop" in hooks.parts:
        hooks.parts["install_loop"](module.propagate)
    twin.caller, twin.shortcut, twin.guard, twin.fill = module.caller, module.shortcut, module.guarded, module.fill
    twin.view_of, twin.subscript_by = module.view_of, module.subscript_by
    twin.types = (*twin.types, module.Function, module.Method, module.Shortcut, module.Guarded)


module = load()
"""The native module in use, None where Python and numpy do everything."""
