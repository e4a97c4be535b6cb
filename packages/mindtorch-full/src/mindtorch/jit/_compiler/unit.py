"""What is compiled together: functions, classes and modules, each once, and the files of code that they become."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch.jit._script_function import ScriptFunction
from mindtorch.jit._tracing.classes import Names, files_of, qualified_name

from .annotations import meaning, type_of_annotation
from .compiled import Compiled, compile_function
from .definitions import definition_of
from .frontend import NotCompiled
from .graph import Node, Value
from .linked import LinkedCode, linked_function
from .module_kinds import ModuleKind, Modules
from .plain_schemas import PLAIN, method_of_dict, method_of_list, overloads
from .printing import ConstantPlace, FunctionName
from .schemas import DTYPES_OF_METHODS, Argument
from .types import FLOAT, INT, STR, TENSOR, Type

_FUNCTION = Type("Function")


class Unit(Modules):
    """The functions, classes and modules that are compiled together."""

    def __init__(self) -> None:
        super().__init__()
        self._functions: dict[Any, Compiled | None] = {}
        self._tuples: dict[Type, tuple[type, tuple[str, ...], tuple[Type, ...]]] = {}
        names = Names()
        self.free_name, self.constants, self.linker = names.free, names.constants, names.linker

    def files(self) -> dict[str, str]:
        """Return the files of code by their names, as in an archive."""
        made = list(self.linker.definitions.items())
        made += [(kind.name, kind.text()) for kind in self.kinds()]
        for tuple_kind, (_, names, types) in self._tuples.items():
            fields = "".join(f"  {name} : {one}\n" for name, one in zip(names, types, strict=True))
            made.append((tuple_kind.name, f"class {tuple_kind.name.rpartition('.')[2]}(NamedTuple):\n{fields}"))
        made += [(one.name, one.text()) for one in self._functions.values() if one is not None]
        return files_of(made)

    # Functions

    def function(self, function: Callable[..., Any]) -> Compiled:
        """Return a function of Python, compiled."""
        function = getattr(function, "__original_fn", None) or inspect.unwrap(function)
        if function in self._functions:
            found = self._functions[function]
            if found is None:
                raise RuntimeError(
                    f"function '{function.__name__}' is called recursively. Recursive calls are not supported"
                )
            return found
        self._functions[function] = None
        name = self.free_name(qualified_name(function))
        try:
            source = definition_of(function) or function
            made = self._functions[function] = compile_function(self, source, name)
        except RuntimeError as error:
            del self._functions[function]
            if str(function.__module__).startswith(("torch.", "mindtorch.")):
                raise NotCompiled(
                    f"{function.__module__}.{function.__qualname__} has no definition that compiles: {error}"
                ) from error
            raise
        except NotImplementedError:
            del self._functions[function]
            raise
        return made

    def call_function(self, state: Any, held: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Value:
        """Put a call of a function of Python into a graph."""
        made = self._called(held)
        given = self.placed(state, made.arguments, args, kwargs, node, made.name)
        function = state.graph.constant(_FUNCTION, FunctionName(made.name))
        function.node.shown["name"] = made.name.rpartition(".")[2]
        return self._result(
            state, Node("prim::CallFunction", [function, *given], state.place, _made=made), made.returns
        )

    def _called(self, held: Any) -> Compiled | LinkedCode:
        """Return what is called, compiled now or before."""
        if isinstance(held, ScriptFunction):
            original = held.__dict__.get("_torchdynamo_inline")
            if original is None:
                return linked_function(self, held)
            held = original
        if self.marked(held) in ("ignore", "unused"):
            raise NotCompiled("a call of a function that is ignored")
        if not inspect.isfunction(inspect.unwrap(held)) and not inspect.ismethod(held):
            raise NotCompiled(f"a call of {getattr(held, '__name__', held)!r}")
        module = str(getattr(held, "__module__", ""))
        if (module.startswith("torch") and definition_of(held) is None) and not _is_written_for(held):
            raise NotCompiled(f"{module}.{getattr(held, '__name__', held)}")
        return self.function(held)

    def _result(self, state: Any, made: Node, kind: Type) -> Value:
        state.block.nodes.append(made)
        return made.add_output(kind)

    def placed(
        self, state: Any, arguments: list[Argument], args: list[Any], kwargs: dict[str, Any], node: ast.AST, name: str
    ) -> list[Value]:
        """Return the arguments of a call in their order, defaults filled in."""
        if len(args) > len(arguments):
            raise state.source.error(
                node, f"{name}() expected at most {len(arguments)} argument(s) but received {len(args)} argument(s)"
            )
        made = []
        for place, argument in enumerate(arguments):
            given = args[place] if place < len(args) else kwargs.get(argument.name)
            if given is None:
                if argument.required:
                    raise state.source.error(node, f"Argument {argument.name} not provided.\n\nThe original call is")
                made.append(self._default(state, argument))
                continue
            value = state.as_value(given, node)
            converted = state.converted(value, argument.kind, argument.size)
            if converted is None:
                shown = (
                    f"Expected a value of type '{argument.kind}' for argument '{argument.name}' but instead found type "
                )
                raise state.source.error(node, f"\n{name}: {shown}'{value.kind}'")
            made.append(converted)
        for word in kwargs:
            if word not in {one.name for one in arguments}:
                raise state.source.error(node, f"Keyword argument {word} unknown.\n\nThe original call is")
        return made

    def _default(self, state: Any, argument: Argument) -> Value:
        value = argument.default
        if isinstance(value, int) and not isinstance(value, bool) and argument.kind == FLOAT:
            value = float(value)
        made = state.constant(value) if value is not None else state.constant(None)
        return state.converted(made, argument.kind, argument.size) or made

    # What things of Python are

    def marked(self, held: Any) -> str:
        """Return whether a function is marked as ignored or unused."""
        return str(getattr(held, "_torchscript_modifier", None) or "").partition(" ")[0]

    def definition_of(self, held: Any) -> Any:
        """Return the definition that is compiled in place of a function of this package."""
        return definition_of(held)

    def is_operator(self, name: str) -> bool:
        """Whether there is an operator of a name."""
        return bool(overloads(name, "aten")) or name in ("tensor", "as_tensor")

    def operator_named(self, held: Any) -> tuple[str, str] | None:
        """Return the operator that a function of this package is."""
        name, module = getattr(held, "__name__", None), str(getattr(held, "__module__", None) or "")
        if held is mindtorch.Size:
            return "Size", "aten"
        if module == "math":
            return (name, "aten") if name in PLAIN else None
        if name is None or definition_of(held) is not None:
            return None
        own = module.startswith(("torch", "mindtorch")) or module in ("None", "")
        builtin = not inspect.isfunction(held) or getattr(mindtorch, name, None) is held
        return (name, "aten") if own and builtin and self.is_operator(name) else None

    def constant_of(self, state: Any, held: Any) -> Value | None:
        """Return a value of Python as a constant, None where it cannot be one."""
        if isinstance(held, (bool, int, float, str, complex, type(None), mindtorch.dtype, mindtorch.device)):
            return state.constant(held)  # type: ignore[no-any-return]
        if isinstance(held, (mindtorch.layout, mindtorch.memory_format)):
            return state.constant(held)  # type: ignore[no-any-return]
        if isinstance(held, (list, tuple)) and held and not hasattr(held, "_fields"):
            return state.constant(held)  # type: ignore[no-any-return]
        return None

    def tensor_constant(self, state: Any, tensor: Any) -> Value:
        """Return a tensor as a constant of the archive."""
        place = next((place for place, one in enumerate(self.constants) if one is tensor), None)
        if place is None:
            place = len(self.constants)
            self.constants.append(tensor)
        return state.graph.constant(TENSOR, ConstantPlace(place))  # type: ignore[no-any-return]

    def inferred(self, source: Any, value: Value) -> str:
        """Return a mark where the type of an argument was not said."""
        annotation = inspect.signature(source.function).parameters.get(value.hint)
        return "_inferred" if annotation is not None and annotation.annotation is annotation.empty else ""

    def has_method(self, kind: Type, name: str) -> bool:
        """Whether values of a type have a method."""
        if kind == TENSOR:
            return self.is_operator(name) or name in (*DTYPES_OF_METHODS, "tolist", "new_tensor", "type")
        if kind.name == "List":
            return method_of_list(name, kind) is not None
        if kind.name == "Dict":
            return method_of_dict(name, kind) is not None
        if kind == STR:
            return name == "format" or any(one.arguments[0].kind == STR for one in PLAIN.get(name, []) if one.arguments)
        return kind in (INT, FLOAT) and name in ("item",)

    # Classes

    def class_type(self, cls: type) -> Type:
        """Return the type of a class of the program."""
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            kind = Type(qualified_name(cls))
            if kind not in self._tuples:
                said = getattr(cls, "__annotations__", {})
                names = vars(inspect.getmodule(cls)) if inspect.getmodule(cls) else {}
                types = tuple(
                    TENSOR if name not in said else type_of_annotation(meaning(said[name], names), self.class_type)
                    for name in cls._fields
                )
                self._tuples[kind] = cls, cls._fields, types
            return kind
        raise NotCompiled(f"the class {cls.__name__}")

    def fields_of(self, kind: Type) -> tuple[Type, ...]:
        """Return the types of a named tuple's fields, nothing for other types."""
        return self._tuples[kind][2] if kind in self._tuples else ()

    def field_names(self, kind: Type) -> tuple[str, ...]:
        """Return the names of a named tuple's fields."""
        return self._tuples[kind][1] if kind in self._tuples else ()

    def make_object(self, state: Any, cls: type, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Value:
        """Put the making of an object into a graph."""
        kind = self.class_type(cls)
        _, names, types = self._tuples[kind]
        defaults = getattr(cls, "_field_defaults", {})
        arguments = [Argument(name, one, defaults.get(name), name not in defaults)
                     for name, one in zip(names, types, strict=True)]  # fmt: skip
        given = self.placed(state, arguments, args, kwargs, node, cls.__name__)
        return self._result(state, Node("prim::TupleConstruct", given, state.place), kind)

    def find_method(self, kind: Type, name: str) -> Any:
        """Return a method of a class of the program, None where there is none."""
        return None

    def attribute_of(self, state: Any, owner: Value, name: str, node: ast.AST) -> Any:
        """Return an attribute of an object of a class of the program."""
        return None

    def attributes_of(self, owner: Any) -> dict[str, Type]:
        """Return the attributes that a module or an object has."""
        kind = getattr(owner, "kind", None)
        return kind.attributes if isinstance(kind, ModuleKind) else {}

    def is_initialising(self, state: Any, owner: Any) -> bool:
        """Whether the `__init__` of the object's class is compiled."""
        return False

    def call_method(
        self, state: Any, owner: Value, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST
    ) -> Value:
        """Put a call of a method of an object into a graph."""
        raise NotCompiled(f"a method of {owner.kind}")


def _is_written_for(held: Any) -> bool:
    """Whether a function of this package is written in what this compiler compiles."""
    return str(getattr(held, "__module__", "")).startswith("torch.nn.functional")
