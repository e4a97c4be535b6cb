"""One function or method, compiled."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from .annotations import comment_types, meaning, type_of_annotation
from .exits import RETURN_VALUE, settle
from .frontend import NotSupportedError, Source
from .graph import Graph, Value
from .inlining import clean
from .loops import Loops
from .printing import CodeText
from .schemas import Argument
from .types import NONE, TENSOR, Type


class Compiled:
    """A function that was compiled: its name in code, its arguments, what it returns, and its graph."""

    def __init__(self, name: str, arguments: list[Argument], returns: Type, graph: Graph, inferred: set[str]) -> None:
        self.name = name
        self.inferred = frozenset(inferred)
        """The arguments whose types were not said."""
        self.arguments = arguments
        self.returns = returns
        self.graph = graph

    def text(self, owner: str | None = None) -> str:
        """Return the definition in code; of a method where the class is named."""
        short = self.name.rpartition(".")[2]
        return CodeText(self.graph, short, self.arguments, self.returns, owner).write()


def compile_function(
    unit: Any, function: Callable[..., Any], name: str, owner: Type | None = None, self_: Any = None
) -> Compiled:
    """Compile a function. A method gets the type of `self`, and what makes the value of it a module or an object.

    Raises RuntimeError for what is no TorchScript, NotCompiled for what this compiler lacks.
    """
    source = Source(function)
    state = Loops(unit, source)
    arguments, returns, inferred = _signature(unit, source, owner is not None)
    state.inferred = inferred  # type: ignore[attr-defined]
    if owner is not None:
        value = Value(owner, None, "self")
        state.graph.inputs.append(value)
        first = source.syntax.args.args[0].arg
        state.scope.names[first] = self_(value) if self_ is not None else value
    for one in arguments:
        value = Value(one.kind, None, one.name)
        state.graph.inputs.append(value)
        state.scope.names[one.name] = value
        state.scope.declared[one.name] = one.kind
    state.returned = state.declared_return = returns  # type: ignore[attr-defined]
    state.statements(settle(source.syntax))
    result = state.scope.names.get(RETURN_VALUE)
    if state.scope.raises or result is None:
        result = state.uninitialized(returns) if returns not in (None, NONE) else state.constant(None)
    result = state.as_value(result, source.syntax)
    kind = returns or result.kind
    state.graph.outputs = [result]
    clean(state.graph)
    return Compiled(name, arguments, kind, state.graph, inferred)


def _signature(unit: Any, source: Source, is_method: bool) -> tuple[list[Argument], Type | None, set[str]]:
    """Return the arguments, the type of what is returned where it is said, and the arguments whose type is not."""
    function = source.function
    given = list(inspect.signature(function).parameters.values())[1 if is_method else 0 :]
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    said = comment_types(source._lines, names)
    arguments: list[Argument] = []
    inferred: set[str] = set()
    for place, one in enumerate(given):
        size = 0
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) or (
            one.kind is one.KEYWORD_ONLY and one.default is not one.empty
        ):
            raise NotSupportedError(
                "Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:\n"
                + source.shown(source.syntax)
            )
        annotation = one.annotation if said is None else said[0][place]
        if annotation is one.empty:
            kind = TENSOR
            inferred.add(one.name)
        else:
            annotation = meaning(annotation, names)
            kind = type_of_annotation(annotation, unit.class_type)
            size = _list_length(annotation)
        required = one.default is one.empty
        default = None if required else one.default
        if size and isinstance(default, int):
            default = [default] * size
        arguments.append(Argument(one.name, kind, default, required, size=size))
    result = inspect.signature(function).return_annotation if said is None else said[1]
    if result is inspect.Signature.empty:
        return arguments, None, inferred
    return arguments, type_of_annotation(meaning(result, names), unit.class_type), inferred


def _list_length(annotation: Any) -> int:
    """Return how long the list is that a single number stands for, nothing where it stands for none."""
    marked = (one for one in (annotation, *typing.get_args(annotation)) if typing.get_origin(one) is typing.Annotated)
    return next((one.__metadata__[0] for one in marked), 0)
