"""Classes of TorchScript for a tree of modules, with the methods that were recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch.jit._linking import Linker
from mindtorch.jit._program import Program
from mindtorch.jit._script_module import CompiledModule

from .text import is_plain_name, literal


def qualified_name(of: Any) -> str:
    """Return the name that code gives a class or function: `__torch__`, its module and its own name."""
    name = getattr(of, "__name__", type(of).__name__)
    name = "_lambda" if name == "<lambda>" else name
    module = str(getattr(of, "__module__", None) or "__main__")
    parts = [part if part.isidentifier() else "".join(c if c.isalnum() else "_" for c in part) for part in
             module.split(".")]  # fmt: skip
    return ".".join(["__torch__", *([] if parts == ["__main__"] else parts), name])


def files_of(definitions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the files that qualified names and the texts of what has them lie in, as in an archive."""
    made: dict[str, str] = {}
    for name, text in definitions:
        place = "/".join(name.split(".")[:-1]) + ".py"
        made[place] = made.get(place, "") + text
    return made


class Names:
    """The names of what one program defines, a trace or what is compiled together, and of the programs that it calls."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._mangled = 0
        self.constants: list[Any] = []
        self.linker = Linker(self.constants, self.free, self._used.__contains__)

    def free(self, name: str) -> str:
        """Return a name that nothing has, from now on taken."""
        module, _, short = name.rpartition(".")
        free = name
        while free in self._used:
            free = f"{module}.___torch_mangle_{self._mangled}.{short}"
            self._mangled += 1
        self._used.add(free)
        return free


class Classes:
    """The classes of one traced module, one for each module in it, and their methods' text.

    Modules inside that are compiled keep their classes: `compiled` has the outermost of them by their paths, as modules
    of code.
    """

    def __init__(self, module: Any) -> None:
        self._methods: dict[str, list[str]] = {}
        self._named: dict[str, set[str]] = {}
        self.space = Names()
        self.names: dict[str, str] = {}
        self.modules: dict[str, Any] = {}
        self.compiled: dict[str, Any] = {}
        self._add_module("", module)

    def _add_module(self, path: str, module: Any) -> None:
        code = module._as_code() if isinstance(module, CompiledModule) else None
        if code is not None:
            self.compiled[path] = code
            self.names[path] = self.space.linker.bring(code._program)[code._qualified_name]
            return
        self.modules[path] = module
        self.names[path] = self.space.free(getattr(module, "_qualified_name", None) or qualified_name(type(module)))
        for name, child in module._modules.items():
            if child is not None:
                self._add_module(f"{path}.{name}" if path else name, child)

    def take_method(self, path: str, name: str = "forward") -> str:
        """Return the next free name of a method of the module at `path`: `forward`, `forward1`, …"""
        taken = self._named.setdefault(path, set())
        free, count = name, 0
        while free in taken:
            count += 1
            free = f"{name}{count}"
        taken.add(free)
        return free

    def add_method(self, path: str, text: str) -> None:
        """Give the class of the module at `path` a method."""
        self._methods.setdefault(path, []).append(text)

    def files(self) -> dict[str, str]:
        """Return the files of code by their names, as in an archive."""
        own = ((self.names[path], self._class(path)) for path in self.modules)
        return files_of([*self.space.linker.definitions.items(), *own])

    def _class(self, path: str) -> str:
        module, name = self.modules[path], self.names[path].rpartition(".")[2]
        parameters = [one for one, value in module._parameters.items() if value is not None]
        buffers = [one for one, value in module._buffers.items() if value is not None]
        lines = [
            f"class {name}(Module):",
            f"  __parameters__ = [{_listed(parameters)}]",
            f"  __buffers__ = [{_listed(buffers)}]",
        ]
        kinds = {one: "Tensor" for one in (*parameters, *buffers)}
        kinds.update(training="bool", _is_full_backward_hook="Optional[bool]")
        for child, value in module._modules.items():
            if value is not None:
                kinds[child] = self.names[f"{path}.{child}" if path else child]
        if not all(map(is_plain_name, kinds)):
            lines.append("  __annotations__ = []")
        for one, kind in kinds.items():
            lines.append(f"  {one} : {kind}" if is_plain_name(one) else f"  __annotations__[{literal(one)}] = {kind}")
        text = "\n".join(lines) + "\n"
        for method in self._methods.get(path, []):
            text += indented(method)
        return text


def indented(method: str) -> str:
    """Return a method's text as it stands in a class: all but what lies between its first line and its body moves in."""
    lines = method.splitlines()
    body = next(place for place, line in enumerate(lines) if line.endswith(":")) + 1
    return "".join(f"{'' if 0 < place < body else '  '}{line}\n" for place, line in enumerate(lines))


def _listed(names: list[str]) -> str:
    return "".join(f"{literal(one)}, " for one in names)


def program_of(files: dict[str, str], constants: list[Any], kinds: dict[str, type]) -> Program:
    """Return the program of some files of code; `kinds` has the base classes by the name of the class."""
    program = Program(files.get, tuple(constants), kinds)
    program.read_all(files)
    return program
