"""Generated code: what `Graph.python_code` writes."""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch.fx import _pytree as fx_pytree
from mindtorch.fx import _statements
from mindtorch.fx._names import CUSTOM_BUILTINS, _Namespace
from mindtorch.fx._notes import Palette, tensor_note
from mindtorch.fx._spelling import _get_qualified_name, _type_repr, is_method_form
from mindtorch.fx.node import Node
from mindtorch.utils import _pytree as pytree
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket


@dataclass
class PythonCode:
    """Generated source, and the names it needs.

    `_lineno_map` tells for each line of the body which node, by number, it comes from.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> print(graph.graph.python_code("self").src.strip())
    def forward(self, x):
        add = x + 1;  x = None
        relu = torch.relu(add);  add = None
        mul = relu * 2;  relu = None
        return mul
    """

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0


def _is_from_torch(obj: Any) -> bool:
    """Return whether generated code reaches `obj` from the name `torch`."""
    if isinstance(obj, OpOverload | OpOverloadPacket):
        return True
    module = getattr(obj, "__module__", None)
    if not isinstance(module, str) or is_method_form(obj):
        return False
    return module.partition(".")[0] in ("torch", "mindtorch") and not isinstance(obj, types.ModuleType)


_CAPITAL = {list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet, tuple: typing.Tuple}  # noqa: UP006


class Writer:
    """The texts of one piece of generated code: collects the names that it refers to."""

    def __init__(self, namespace: _Namespace, palette: Palette) -> None:
        self.namespace = namespace
        self.palette = palette
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        for name, one in CUSTOM_BUILTINS.items():
            self.add_global(name, one.obj)

    def add_global(self, hint: str, obj: Any) -> str:
        """Return the name under which the code finds `obj`."""
        if _is_from_torch(obj) and obj is not torch.device:
            return _get_qualified_name(obj)
        name = self.namespace.create_name(hint, obj)
        self.globals[name] = obj
        return name

    def type_name(self, kind: Any) -> str:
        """Return a type as an annotation."""
        if kind == ():
            return "()"
        if isinstance(kind, types.UnionType):
            return "|".join(map(self.type_name, kind.__args__))
        origin = getattr(kind, "__origin__", None)
        if origin is None:
            return self.add_global(_type_repr(kind), kind)
        if isinstance(kind, typing._GenericAlias):  # type: ignore[attr-defined]  # `List[int]`, not `list[int]`
            origin = _CAPITAL.get(origin, origin)
        name = self.add_global(_type_repr(origin), origin)
        inner = getattr(kind, "__args__", None)
        return f"{name}[{','.join(map(self.type_name, inner))}]" if inner else name

    def node_name(self, node: Node) -> str:
        """Return the variable of a node."""
        return self.namespace.create_name(node.name, node)

    def value(self, arg: Any) -> str:
        """Return an argument as an expression."""
        if isinstance(arg, Node):
            return self.node_name(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            name = self.add_global(_get_qualified_name(type(arg)), type(arg))
            return f"{name}{self.value(tuple(arg))}"
        if isinstance(arg, tuple):
            return f"({', '.join(map(self.value, arg))}{',' if len(arg) == 1 else ''})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.value, arg))}]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{key!r}: {self.value(one)}" for key, one in arg.items()) + "}"
        if isinstance(arg, slice):
            return f"slice({self.value(arg.start)}, {self.value(arg.stop)}, {self.value(arg.step)})"
        if isinstance(arg, OpOverload | OpOverloadPacket):
            return self.add_global(_get_qualified_name(arg), arg)
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, torch.Tensor):
            return f"torch.Tensor(size={list(arg.shape)}, dtype={str(arg.dtype).removeprefix('torch.')})"
        return repr(arg)

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        """Return the arguments of a call."""
        return ", ".join([*map(self.value, args), *(f"{name} = {self.value(one)}" for name, one in kwargs.items())])


class CodeGen:
    """How a graph becomes the source of a function.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> type(graph.graph._codegen).__name__
    'CodeGen'
    """

    _body_transformer: Callable[[list[str]], list[str]] | None = None
    _func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """Return the line that starts the function; of several lines when `expanded_def`."""
        given = free_vars if free_vars and free_vars[0] == "self" else ["self", *free_vars]
        if expanded_def:
            listed = "".join(f"    {one},\n" for one in given)
            return f"def {self._func_name}(\n{listed}){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(given)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] = repr) -> str:
        """Return the statement that ends the function."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders, given the function's arguments."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return the function's result, given the value of the output."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return names that the code uses beyond those of the nodes."""
        return []

    def _gen_python_code(
        self, nodes: Iterable[Node], root_module: str, namespace: _Namespace, **look: Any
    ) -> PythonCode:
        writer = Writer(namespace, Palette(look.get("colored", False)))
        for name, value in self.additional_globals():
            writer.add_global(name, value)
        listed = list(nodes)
        deaths = _last_uses(listed)
        body: list[str] = []
        parameters: list[str] = []
        returns = ""
        summary: str | None = None
        lines: dict[int, int | None] = {}
        for number, node in enumerate(listed):
            if look.get("verbose") and node.op not in ("placeholder", "output"):
                summary = self._comment(body, node, summary, writer.palette)
            if node.op == "placeholder":
                note = tensor_note(node, writer.palette, **look) if look.get("verbose") else ""
                parameters.append(_parameter(node, writer, note))
                raw = node.target.replace("*", "")
                name = writer.node_name(node)
                body.append(f"{name} = {raw}\n" if raw != name else "")
                continue
            if node.op == "output":
                returns = f" -> {writer.type_name(node.type)}" if node.type is not None else ""
                body.append(self.generate_output(node.args[0], repr_fn=writer.value) + "\n")
            else:
                note = tensor_note(node, writer.palette, **look) if look.get("verbose") else ""
                body.append(_statements.statement(node, root_module, writer, note) + _farewell(node, deaths, writer))
            lines[sum(text.count("\n") for text in body)] = number
        if not listed:
            body.append("pass\n")
        if self._body_transformer is not None:
            body = self._body_transformer(body)
        head = self.gen_fn_def(parameters, returns, expanded_def=look.get("expanded_def", False))
        wrapping = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
        code = "\n".join(f"    {line}" for line in "".join(body).lstrip("\n").split("\n"))
        source = f"\n{wrapping}\n\n{head}\n{code}"
        start = source.count("\n", 0, source.index(head)) + 1
        return PythonCode(source, writer.globals, lines, _prologue_start=start)

    @staticmethod
    def _comment(body: list[str], node: Node, summary: str | None, palette: Palette) -> str:
        """Say once for all nodes in a row that come from one line of the program which it is."""
        trace = node.stack_trace
        place = _place(trace) if trace else None
        if trace is None:
            if summary != "":
                body.append("\n" + palette.dim("# No stacktrace found for following nodes") + "\n")
            return ""
        if place is None:
            return summary or ""
        if place != summary:
            body.append("\n" + palette.dim(place) + "\n")
        return place


_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)$')


class _ParsedStackTrace(NamedTuple):
    """A frame of a recorded stack."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        """Return the frame in one line."""
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def _parse_stack_trace(
    stack_trace: str, filter_fn: Callable[[str, str, str], bool] | None = None
) -> _ParsedStackTrace | None:
    """Return the innermost frame of a recorded stack that the filter accepts; it gets file, function and code."""
    lines = (stack_trace or "").strip().split("\n")
    for index in range(len(lines) - 2, -1, -1):
        match = _FRAME.match(lines[index])
        code = lines[index + 1].strip()
        if match and (filter_fn is None or filter_fn(match["file"], match["function"], code)):
            return _ParsedStackTrace(match["file"], match["line"], match["function"], code)
    return None


def _place(trace: str) -> str | None:
    """Return the comment for the innermost frame of a recorded stack."""
    found = _parse_stack_trace(trace)
    return None if found is None else f"# {found.get_summary_str()}"


def _parameter(node: Node, writer: Writer, note: str) -> str:
    kind = note or (f" : {writer.type_name(node.type)}" if node.type is not None else "")
    default = f" = {writer.value(node.args[0])}" if node.args else ""
    return f"{node.target}{kind}{default}"


def _last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """Return for each node the values that nobody needs after it."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for user in reversed(nodes):
        for used in user.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(user, []).append(used)
    return found


def _farewell(node: Node, deaths: dict[Node, list[Node]], writer: Writer) -> str:
    """Return the end of a node's line: what it frees."""
    names = [writer.node_name(one) for one in deaths.get(node, [])]
    if not node.users:
        names.append(writer.node_name(node))
    return f";  {writer.palette.dim(' = '.join([*names, 'None']))}\n" if names else "\n"


class _PyTreeInfo(NamedTuple):
    """The shapes of a function's arguments and result."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """Code that takes and gives nested containers, whose leaves are the placeholders and outputs."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        self.pytree_info = pytree_info

    def _list_spec(self) -> pytree.TreeSpec:
        """Return the shape of the arguments as that of the list that holds them."""
        spec = self.pytree_info.in_spec
        return pytree.TreeSpec(list, None, spec.children()) if spec.type is tuple else spec

    def process_inputs(self, *inputs: Any) -> Any:
        return fx_pytree.tree_flatten_spec(list(inputs), self._list_spec())

    def process_outputs(self, out: Any) -> Any:
        if not isinstance(out, list | tuple):
            out = [out]
        if self.pytree_info.out_spec is None:
            raise AssertionError("pytree_info.out_spec must not be None")
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        originals = self.pytree_info.orig_args
        if not originals:
            return super().gen_fn_def(originals, maybe_return_annotation, expanded_def=expanded_def)
        names = originals[1:] if originals[0] == "self" else originals
        head = super().gen_fn_def(originals, maybe_return_annotation, expanded_def=expanded_def)
        if free_vars:
            left = "".join(f"{one.split('=')[0].split(':')[0].strip()}, " for one in free_vars)
            head += f"\n    {left}= fx_pytree.tree_flatten_spec([{', '.join(names)}], self._in_spec)"
        return head

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] = repr) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"
