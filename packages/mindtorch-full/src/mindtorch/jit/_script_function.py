"""Functions that are code of TorchScript."""

from __future__ import annotations

import pickle
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tracing_state import recorder
from mindtorch_storage.lazy_import import LazyModule

_writing = LazyModule("mindtorch.jit._writing", "only programs that save a compiled function need it")


class ScriptFunction:
    """A function that was traced or scripted."""

    _program: Any
    _function: Any
    name: str
    qualified_name: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise TypeError: `torch.jit.script` and `torch.jit.trace` make functions."""
        raise TypeError("torch.jit.ScriptFunction: No constructor defined!")

    @classmethod
    def _of(cls, program: Any, name: str, function: Any = None) -> ScriptFunction:
        """Return the function of a name in a program; `function` runs in its place."""
        made = object.__new__(cls)
        made._program = program
        made._function = program.find(name) if function is None else function
        made.qualified_name = name
        made.name = name.rpartition(".")[2]
        made.__dict__["__name__"], made.__dict__["__qualname__"] = "ScriptFunction", "torch.jit.ScriptFunction"
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        active = recorder()
        if active is not None:
            return active.call_function(self, args, kwargs)
        return self._function(*self._signature.bind(args, kwargs))

    @property
    def _signature(self) -> Any:
        return self._program.signature(self.qualified_name)

    @property
    def code(self) -> str:
        """The text of the function."""
        return str(self._program.function_source(self.qualified_name))

    @property
    def graph(self) -> Any:
        """Raises NotImplementedError: code runs in Python, without a graph."""
        raise NotImplementedError(
            "ScriptFunction.graph: code of TorchScript runs in Python, without a graph; see `code`"
        )

    inlined_graph = graph

    def save(self, filename: Any, _extra_files: Any = None) -> None:
        """Write the function to a file, as the archive of a module that has it for `forward`."""
        _writing.save_function(self, filename, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the archive that `save` writes."""
        return bytes(_writing.function_bytes(self, _extra_files))

    def __reduce__(self) -> Any:
        raise pickle.PickleError("ScriptFunction cannot be pickled")


adopt(globals(), "torch.jit")
