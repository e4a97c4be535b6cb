"""The classes and functions that an archive's code declares, made when they are first needed."""

import ast
import enum
import textwrap
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any

import mindtorch
from mindtorch.jit._operators import find_operator
from mindtorch.jit._script_module import (
    Declared,
    RecursiveScriptModule,
    ScriptObject,
    entry,
    get_attribute,
    set_attribute,
)
from mindtorch.jit._signatures import Signature, signature_of
from mindtorch.jit._source import CodeError, check_name, constant_words, dotted, make_function, parse, show_lines
from mindtorch.jit._values import is_instance
from mindtorch_storage.tensor_base import TensorBase

_MODULES = frozenset(("Module", "torch.nn.Module"))


def _annotated(kind: str, value: Any) -> Any:
    """Return a value as one of a type: a tensor for a number is its number."""
    return value.item() if kind in ("int", "float", "number") and isinstance(value, TensorBase) else value


def _cast(_: str, value: Any) -> Any:
    return value


def _uninitialized(_: str) -> None:
    return None


class Program:
    """The code of one archive, or of one trace.

    Args:
        read: returns the text of the file `code/name`, None where there is no such file.
        constants: the tensors and other values that code names by number.
        kinds: the classes that those of modules are made from, by name, where it is not RecursiveScriptModule.
    """

    def __init__(
        self, read: Callable[[str], str | None], constants: Any, kinds: Mapping[str, type] | None = None
    ) -> None:
        self._read = read
        self.kinds = kinds or {}
        self.constants = constants
        self._files: dict[str, dict[str, ast.stmt]] = {}
        self._texts: dict[str, list[str]] = {}
        self._made: dict[str, Any] = {}
        self._words = {
            "annotate": _annotated, "unchecked_cast": _cast, "uninitialized": _uninitialized, "getattr": get_attribute,
            "setattr": set_attribute,
            "isinstance": self._is_instance, "int": int, "float": float, "bool": bool, "str": str, "complex": complex,
            "range": range, "len": len, "fork": mindtorch.jit.fork, "wait": mindtorch.jit.wait, **constant_words(),
        }  # fmt: skip

    def find(self, name: str) -> Any:
        """Return the class or function of a qualified name, `__torch__.module.Name`. Raises CodeError when there is none."""
        made = self._made.get(name)
        if made is None:
            try:
                made = self._made[name] = self._make(name)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
                raise CodeError(f"{name} is no TorchScript: {error}") from None
        return made

    def made(self, value: Any) -> bool:
        """Whether `value` is a class that this code declares."""
        return any(value is one for one in self._made.values())

    def read_all(self, places: Iterable[str]) -> None:
        """Read all files now: what is called later must not need the archive."""
        for place in places:
            if place.endswith(".py"):
                self._file(place)

    def source_of(self, name: str, method: str) -> str:
        """Return the text of a method, as `code` shows it."""
        place, short = self._place_of(name)
        declared = self._file(place)[short]
        for statement in getattr(declared, "body", []):
            if isinstance(statement, ast.FunctionDef) and statement.name == method:
                lines = self._texts[place][statement.lineno - 1 : statement.end_lineno]
                body = statement.body[0].lineno - statement.lineno
                text = "\n".join([*lines[:body], *(line[2:] for line in lines[body:])]).lstrip() + "\n"
                return text.replace(f"self: {name}", "self", 1)
        raise AttributeError(method)

    def signature(self, name: str, method: str = "", inferred: frozenset[str] = frozenset()) -> Signature:
        """Return what a function takes, or a method of the class of that name."""
        place, short = self._place_of(name)
        if not method:
            return signature_of(short, self.function_source(name), inferred)
        declared: Any = self._file(place)[short]
        statement = next(one for one in declared.body if isinstance(one, ast.FunctionDef) and one.name == method)
        text = textwrap.dedent("\n".join(self._texts[place][statement.lineno - 1 : statement.end_lineno]))
        return signature_of(method, text, inferred)

    def definitions(self) -> Iterator[tuple[str, str]]:
        """Return the qualified names of classes and functions and their texts."""
        for place, declared in self._files.items():
            module = place.removesuffix(".py").replace("/", ".")
            for short, one in declared.items():
                yield f"{module}.{short}", "\n".join(self._texts[place][one.lineno - 1 : one.end_lineno]) + "\n"

    def function_source(self, name: str) -> str:
        """Return the text of a function."""
        place, short = self._place_of(name)
        declared = self._file(place)[short]
        return "\n".join(self._texts[place][declared.lineno - 1 : declared.end_lineno]) + "\n"

    def texts(self) -> Iterator[tuple[str, str]]:
        """Return the files that were read and their texts."""
        for place, lines in self._texts.items():
            yield place, "\n".join(lines) + "\n"

    def _is_instance(self, value: Any, text: str) -> bool:
        return is_instance(value, text, self.find)

    def _place_of(self, name: str) -> tuple[str, str]:
        parts = name.split(".")
        return "/".join(parts[:-1]) + ".py", parts[-1]

    def _file(self, place: str) -> dict[str, ast.stmt]:
        declared = self._files.get(place)
        if declared is None:
            text = self._read(place)
            declared = {}
            if text is not None:
                shown = f"code/{place}"
                show_lines(text, shown)
                self._texts[place] = text.splitlines()
                for statement in parse(text, shown).body:
                    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
                        declared[statement.name] = statement
                    elif not isinstance(statement, (ast.Import, ast.Assign)):  # `op_version_set = 1` of older archives
                        raise CodeError(f"{shown}, line {statement.lineno}: neither a class nor a function")
            self._files[place] = declared
        return declared

    def _make(self, name: str) -> Any:
        place, short = self._place_of(name)
        statement = self._file(place).get(short)
        if isinstance(statement, ast.FunctionDef):
            return make_function(statement, f"code/{place}", self._resolve, self._words)
        if isinstance(statement, ast.ClassDef):
            return self._make_class(name, statement, f"code/{place}")
        if name.startswith("__torch__.torch.classes."):
            raise NotImplementedError(f"TorchScript: {name} is a class written in C++, which MindTorch does not have")
        raise CodeError(f"the archive has no code of {name}")

    def _make_class(self, name: str, declared: ast.ClassDef, place: str) -> type:
        base = _base_of(declared)
        if base == "NamedTuple":
            fields = [
                one.target.id
                for one in declared.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            ]
            return namedtuple(declared.name, fields)
        if base == "Enum":
            values = {one.targets[0].id: ast.literal_eval(one.value) for one in declared.body
                      if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)}  # fmt: skip
            for one in values:
                check_name(one, place)
            kind: type = enum.Enum(declared.name, values)  # type: ignore[assignment]
            return kind
        found = Declared()
        for statement in declared.body:
            self._add_member(found, statement, place)
        told = {"_declared": found, "_program": self, "_qualified_name": name, "original_name": declared.name}
        if base not in _MODULES:
            return type(declared.name, (ScriptObject,), {**found.members, **told})
        owner = self.kinds.get(name, RecursiveScriptModule)
        entries = {one: entry(self, name, member) if isinstance(member, FunctionType) else member
                   for one, member in found.members.items()}  # fmt: skip
        return type(owner.__name__, (owner,), {**entries, **told, "__module__": owner.__module__})

    def _add_member(self, found: Declared, statement: ast.stmt, place: str) -> None:
        if isinstance(statement, ast.FunctionDef):
            found.members[statement.name] = make_function(statement, place, self._resolve, self._words)
        elif isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                check_name(str(target.slice.value), place)
                found.attributes.add(str(target.slice.value))  # `__annotations__["0"] = ...`
                found.ordered.append(str(target.slice.value))
            elif isinstance(target, ast.Name) and target.id == "__parameters__":
                found.parameters = frozenset(ast.literal_eval(statement.value))
            elif isinstance(target, ast.Name) and target.id == "__buffers__":
                found.buffers = frozenset(ast.literal_eval(statement.value))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            check_name(statement.target.id, place)
            found.attributes.add(statement.target.id)
            if statement.value is None:
                found.ordered.append(statement.target.id)
            else:
                found.members[statement.target.id] = ast.literal_eval(statement.value)

    def _resolve(self, name: str) -> Any:
        """What a name of the language's namespaces means; what is missing raises when it is called, not before."""
        namespace, _, rest = name.partition(".")
        if namespace == "CONSTANTS":
            number = rest.removeprefix("c")
            if not (number.isdecimal() and int(number) < len(self.constants)):
                raise CodeError(f"the archive has no constant {name}")
            return self.constants[int(number)]
        if namespace == "__torch__":
            owner, _, last = name.rpartition(".")
            if last == "__new__":
                return lambda *_: object.__new__(self.find(owner))
            place, short = self._place_of(owner) if owner.count(".") else ("", "")
            declared = self._file(place).get(short)
            if isinstance(declared, ast.ClassDef):
                return self._member_of(owner, declared, last)
            return lambda *args, **kwargs: self.find(name)(*args, **kwargs)
        try:
            return find_operator(name)
        except NotImplementedError as error:
            return _raising(str(error))

    def _member_of(self, owner: str, declared: ast.ClassDef, name: str) -> Any:
        """Return a member of an enumeration. Of other classes code names nothing: what Python knows of a class leads to
        the interpreter."""
        if _base_of(declared) == "Enum":
            member = self.find(owner).__members__.get(name)
            if member is not None:
                return member
        raise CodeError(f"{owner} has no member {name}")


def _base_of(declared: ast.ClassDef) -> str | None:
    return dotted(declared.bases[0]) if declared.bases else ""


def _raising(message: str) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(message)

    return call
