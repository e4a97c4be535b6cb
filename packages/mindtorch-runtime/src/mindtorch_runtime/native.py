"""The native module `mindtorch_runtime._native`, where it is built: the call path, the pipeline and the backward loop.

`mindtorch_storage.native_module` says when it is taken. It changes speed and nothing else.
"""

from __future__ import annotations

from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np

from mindtorch_dispatch import call, plan, table
from mindtorch_dispatch.execute import arrays, errstate, executor, views
from mindtorch_dispatch.interface.autograd import NativeParts, hooks
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.meta.rule import Start
from mindtorch_dispatch.pipeline import Pipeline, record
from mindtorch_dispatch.plan.overlap import OverlapCheck
from mindtorch_dispatch.state import DEFAULT_MODE, Mode, state
from mindtorch_storage import deferred
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import float32
from mindtorch_storage.native_module import load_native
from mindtorch_storage.spec import Signature, Spec
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.storage.memory import HostAllocation
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, ViewInfo

from . import layout


def load() -> Any:
    """Return the native module, None where it is absent or not wanted; raises as `load_native` does."""
    built_from = ("LAYOUT", layout.HASH)
    return load_native("mindtorch_runtime._native", "mindtorch-runtime", built_from, "calls run in Python")


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
        dtype=type(float32),
    )
    variable = getattr(errstate.enter, "__self__", None)
    objects = layout.Objects(
        state=state,
        default_mode=DEFAULT_MODE,
        deferred=deferred.thread,
        plain_types=plan.plain_types,
        fingerprint=call.fingerprint,
        unplannable=call.Unplannable,
        plan_member=call.plan_member,
        run_again=call.run_again,
        relate=views.relate,
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
        tensor_class=native_path.tensor_class,
        cpu=Device("cpu"),
    )
    return classes, objects


def _of_autograd(parts: NativeParts) -> tuple[layout.AutogradClasses, layout.AutogradObjects]:
    """Return the same of autograd."""
    classes = {name: getattr(parts, name) for name in layout.names(layout.AutogradClasses)}
    kinds = {f"save_{kind}": parts.save_kinds[kind.upper()] for kind in ("tensor", "scalar", "offset", "result")}
    objects = {"after": parts.recorder.after, **kinds}  # type: ignore[attr-defined]
    objects |= {name: getattr(parts, name) for name in layout.names(layout.AutogradObjects) if name not in objects}
    return layout.AutogradClasses(**classes), layout.AutogradObjects(**objects)


def install(module: ModuleType) -> None:
    """Put the module into the call path, and into autograd, once that is there."""

    def record_natively(parts: NativeParts) -> None:
        module.install_autograd(*map(layout.values, _of_autograd(parts)))
        native_path.propagate = module.propagate

    module.install(*map(layout.values, _shared()))
    hooks.parts.take(record_natively)
    native_path.memory.take(module.use_memory)
    native_path.caller, native_path.shortcut, native_path.guard = module.caller, module.shortcut, module.guarded
    native_path.fill, native_path.tensor_over = module.fill, module.tensor_over
    native_path.view_of, native_path.subscript_by = module.view_of, module.subscript_by
    native_path.launches, native_path.form = module.Launches, module.Form
    native_path.copied = module.copied
    native_path.plain_arrays, native_path.note_writes = module.plain_arrays, module.note_writes
    native_path.types = (*native_path.types, module.Function, module.Method, module.Shortcut, module.Guarded)


module = load()
"""The native module in use, None where Python does everything."""

if module is not None:
    install(module)
