"""`torch.jit`: traces, scripted functions and modules, and archives of TorchScript.

A trace is code of TorchScript, as archives hold it, and runs in Python. Scripted functions and modules are compiled to such
code. With `PYTORCH_JIT=0` tracing and scripting return what they are given. What needs a graph raises.
"""

import builtins
import os
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tracing_state import is_tracing as is_tracing
from mindtorch.jit import _state as _state
from mindtorch.jit._asynchronous import fork, wait
from mindtorch.jit._errors import Error
from mindtorch.jit._fusion import (
    enable_onednn_fusion,
    onednn_fusion_enabled,
    set_fusion_strategy,
    strict_fusion,
)
from mindtorch.jit._fusion import (
    optimized_execution as optimized_execution,
)
from mindtorch.jit._marks import (
    Final as Final,
)
from mindtorch.jit._marks import (
    annotate,
    export,
    ignore,
    isinstance,
    unused,
)
from mindtorch.jit._marks import (
    is_scripting as is_scripting,
)
from mindtorch.jit._marks import make_attribute as Attribute
from mindtorch.jit._recursive import _prepare_scriptable
from mindtorch.jit._script_function import ScriptFunction
from mindtorch.jit._script_module import RecursiveScriptModule as RecursiveScriptModule
from mindtorch.jit._script_module import ScriptModule
from mindtorch.jit._warnings import ScriptWarning as ScriptWarning
from mindtorch.jit._warnings import TracerWarning as TracerWarning
from mindtorch.nn.modules.module import Module
from mindtorch.utils import set_module as set_module
from mindtorch_storage.lazy_import import LazyModule

__all__ = [
    "Attribute",
    "Error",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]


_archive = LazyModule("mindtorch.jit._archive", "only archives of TorchScript need it")
_freeze = LazyModule("mindtorch.jit._freeze", "only programs that freeze need it")
_script = LazyModule("mindtorch.jit._script", "only programs that script need it")
_trace = LazyModule("mindtorch.jit._trace", "only programs that trace need it")
_fork, _wait = fork, wait
"""Their names in older programs."""


def __getattr__(name: str) -> Any:
    if name in ("TopLevelTracedModule", "TracedModule", "TracingCheckError"):
        return getattr(_trace, name)
    raise AttributeError(f"module 'torch.jit' has no attribute '{name}'")


def _deprecated(name: str, instead: str = "`torch.compile` or `torch.export`") -> None:
    verb = "switch to" if instead != "`torch.compile`" else "use"
    warnings.warn(
        f"`torch.jit.{name}` is deprecated. Please {verb} {instead}{'' if verb != 'use' else ' instead'}.",
        DeprecationWarning,
        stacklevel=3,
    )


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """Compile a function or a module: a `ScriptFunction` or `ScriptModule` has code, a graph and can be saved.

    A scripted module has the tensors of the original and modes of its own. Of attributes and methods it shows those that
    TorchScript would have. Modules with a method ``__prepare_scriptable__`` are replaced by what it returns. What the compiler
    lacks runs in Python, and its code raises the reason; classes are as they were.

    Raises:
        RuntimeError: a class of modules, or source that is no TorchScript.
        TypeError: a value that is no function.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.jit.script(torch.nn.ReLU())(torch.tensor([-1., 1.]))
    tensor([0., 1.])
    """
    _deprecated("script")
    if not _state._enabled:
        return _prepare_scriptable(obj, {}) if builtins.isinstance(obj, Module) else obj
    _warn_of_optimize(optimize)
    return _script.script(obj)


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``fn`` unchanged."""
    _deprecated("script_method")
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does what ``fn`` does; while a trace runs, it is ``fn`` compiled.

    >>> torch.jit.script_if_tracing(lambda x: x + 1)(torch.ones(1))
    tensor([2.])
    """
    return _trace.script_if_tracing(fn)


_script_if_tracing = script_if_tracing


def _overload(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``func``, one of several signatures; the definition after them is what runs."""
    return func


_overload_method = _overload


def interface(obj: Any) -> Any:
    """Return a class of declarations unchanged; compiled code would call its methods."""
    if not builtins.isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    return obj


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: Any = None,
    _store_inputs: bool = True,
) -> Any:
    """Run a function or module once, and return one that does what was done: the operators that it called.

    Sizes are followed, so other sizes can be given later. What else of the program is Python is kept as it was in this run:
    branches, counts of loops, numbers read from tensors; a TracerWarning says so. A traced module has the tensors of the
    original, the same modules inside, and can be saved.

    Args:
        func: a function of tensors, or a module.
        example_inputs: what it is run on: a tuple of tensors and of tuples, lists and dicts of tensors; or one tensor.
        check_trace: trace a second time, and warn or raise where the two differ.
        check_inputs: other inputs for that.
        check_tolerance: how far values may differ there.
        strict: refuse a dict for the output, and warn of a list.
        example_kwarg_inputs: inputs by name, in place of `example_inputs`.

    Raises:
        RuntimeError: inputs or outputs other than these, or a tensor from elsewhere that needs a gradient.
        TracingCheckError: the second trace is another one.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> traced = torch.jit.trace(lambda x: x.view(x.size(0), -1) * 2, torch.ones(1, 2, 2))
    >>> traced(torch.ones(3, 1, 2)).shape
    torch.Size([3, 2])
    """
    _deprecated("trace")
    if not _state._enabled:
        return func
    _warn_of_optimize(optimize)
    return _trace.trace(func, example_inputs, check_trace, check_inputs, check_tolerance, strict, example_kwarg_inputs)


def trace_module(
    mod: Any,
    inputs: Any,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """Trace methods of a module, as `torch.jit.trace` does its `forward`: ``inputs`` has their inputs by their names.

    >>> traced = torch.jit.trace_module(torch.nn.ReLU(), {"forward": torch.ones(1)})
    >>> traced(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _deprecated("trace_method")
    if not _state._enabled:
        return mod
    _warn_of_optimize(optimize)
    return _trace.trace_module(mod, inputs, check_trace, check_inputs, check_tolerance, strict, example_inputs_is_kwarg)


def _warn_of_optimize(optimize: Any) -> None:
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead",
            FutureWarning,
            stacklevel=3,
        )


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """Return a copy of a compiled module whose parameters and attributes are constants: it has no state, and no modes.

    Args:
        mod: a compiled module in evaluation.
        preserved_attrs: names of attributes and methods that it keeps beside `forward`.

    Raises:
        RuntimeError: a module that is not compiled, or that is in training; a name that it does not have.

    >>> frozen = torch.jit.freeze(torch.jit.trace(torch.nn.ReLU().eval(), torch.ones(1)))
    >>> frozen(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _deprecated("freeze", "`torch.compile`")
    return _freeze.freeze(mod, preserved_attrs)


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """Return a compiled module, frozen: its code runs in Python, where there is nothing else to do for it.

    >>> made = torch.jit.optimize_for_inference(torch.jit.trace(torch.nn.ReLU().eval(), torch.ones(1)))
    >>> made(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _deprecated("optimize_for_inference", "`torch.compile`")
    return _freeze.optimize_for_inference(mod, other_methods)


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Save a compiled module; anything else has no `save`, and raises.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.trace(torch.nn.ReLU(), torch.ones(1)), file)
    >>> _ = file.seek(0)
    >>> torch.jit.load(file)(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _deprecated("save", "`torch.export`")
    if builtins.isinstance(f, (str, os.PathLike)):
        m.save(f, _extra_files=_extra_files)
    else:
        f.write(m.save_to_buffer(_extra_files=_extra_files))


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Load a compiled module from an archive that `torch.jit.save` of torch wrote: its parameters and its code.

    The code runs in Python, operator by operator; nothing else of Python can be reached from it.

    Raises:
        ValueError: there is no such file, or it is a directory.
        RuntimeError: the file is no archive, or its code is no TorchScript.
        NotImplementedError: the archive needs what MindTorch lacks: classes written in C++, a format before PyTorch 1.4.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.trace(torch.nn.ReLU(), torch.ones(1)), file)
    >>> _ = file.seek(0)
    >>> torch.jit.load(file)(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _deprecated("load", "`torch.export`")
    if type(f) is str or hasattr(f, "__fspath__"):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
    return _archive.load_archive(f, map_location, _extra_files)


adopt(globals())
