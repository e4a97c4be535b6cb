"""`torch.jit.freeze`: a compiled module whose parameters and attributes are part of its code."""

from __future__ import annotations

import copy
from typing import Any

from mindtorch.jit._script_module import RecursiveScriptModule, ScriptModule
from mindtorch.nn.modules.module import Module
from mindtorch_storage.lazy_import import LazyModule

_writing = LazyModule("mindtorch.jit._writing", "only programs that save a compiled module need it")


class FrozenModule(RecursiveScriptModule):
    """A module without parameters, buffers, modules and modes: they are those of a copy that was made when it was frozen."""

    _frozen: Any
    _kept: frozenset[str]

    def _hold(self, module: Any, kept: list[str]) -> None:
        Module.__init__(self)
        own = self.__dict__
        own["_frozen"] = module
        own["_kept"] = frozenset(kept)
        own["original_name"] = module.original_name
        own["_qualified_name"] = module._qualified_name
        del own["training"]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run what was frozen."""
        return self._frozen(*args, **kwargs)

    def _as_code(self) -> Any:
        return self._frozen._as_code()

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_kept", ()):
            return getattr(self._frozen, name)
        raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")

    @property
    def code(self) -> Any:
        """The text of `forward`, as it was before freezing."""
        return self._frozen.code

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Write the module to a file, as an archive that `torch.jit.load` reads."""
        _writing.save_frozen(self._frozen._code_itself(), f, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the archive that `save` writes."""
        return bytes(_writing.bytes_of(self, _extra_files))


FrozenModule.__name__ = FrozenModule.__qualname__ = "RecursiveScriptModule"
FrozenModule.__module__ = "torch.jit._script"


def freeze(module: Any, preserved: list[str] | None) -> Any:
    """Return the frozen module; see `torch.jit.freeze`."""
    if not isinstance(module, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your "
            "'nn.Module'."
        )
    if isinstance(module, FrozenModule):
        return module
    if module.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before "
            "freezing."
        )
    kept = list(preserved or ())
    for name in kept:
        if not hasattr(module, name):
            raise RuntimeError(f"Unknown name: {name}")
    memo = {id(one): one.detach() for one in (*module.parameters(), *module.buffers())}  # the same memory, as in torch
    copied = copy.deepcopy(module, memo)
    made = FrozenModule.__new__(FrozenModule)
    made._hold(copied, kept)
    return made


def optimize_for_inference(module: Any, other_methods: list[str] | None) -> Any:
    """Return the module, frozen; see `torch.jit.optimize_for_inference`."""
    if not isinstance(module, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script "
            "your 'nn.Module'."
        )
    return module if isinstance(module, FrozenModule) else freeze(module.eval(), other_methods)
