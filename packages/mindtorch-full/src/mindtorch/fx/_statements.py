"""One line of generated code for each kind of node."""

from __future__ import annotations

from typing import Any

from mindtorch.fx._protocols import WriterLike
from mindtorch.fx._spelling import _get_qualified_name

INFIX = {
    "add": "+",
    "and_": "&",
    "eq": "==",
    "floordiv": "//",
    "ge": ">=",
    "gt": ">",
    "le": "<=",
    "lshift": "<<",
    "lt": "<",
    "matmul": "@",
    "mod": "%",
    "mul": "*",
    "ne": "!=",
    "or_": "|",
    "pow": "**",
    "rshift": ">>",
    "sub": "-",
    "truediv": "/",
    "xor": "^",
}
PREFIX = {"invert": "~", "neg": "-", "pos": "+"}
MAGIC_METHODS = {
    **{name: f"{{}} {sign} {{}}" for name, sign in INFIX.items()},
    **{name: f"{sign}{{}}" for name, sign in PREFIX.items()},
    "div": "{} / {}",
    "getitem": "{}[{}]",
}
"""Functions of `operator` to how their calls are written."""

INPLACE_METHODS = {
    **{
        f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}"
        for name, sign in INFIX.items()
        if name not in ("eq", "ne", "ge", "gt", "le", "lt")
    },
    "setitem": "{}[{}] = {}",
}
"""Functions of `operator` that change their first argument, to the statements that do."""


def _format_target(base: str, target: str) -> str:
    """Return the expression for the attribute `target`, dotted, of `base`."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def statement(node: Any, root_module: str, writer: WriterLike, note: str) -> str:
    """Return the line for a node that is neither input nor output, without its end.

    Args:
        note: what a verbose line says of the value's type.

    Raises:
        NotImplementedError: the node's op is none.
    """
    name = writer.node_name(node)
    kind = f" : {writer.type_name(node.type)}" if node.type is not None else ""
    left = f"{name}{note or kind}"
    if node.op == "call_function":
        return _function_call(node, name, left, writer)
    if node.op == "call_method":
        method = _format_target(writer.value(node.args[0]), node.target)
        return f"{left} = {method}({writer.arguments(node.args[1:], node.kwargs)})"
    if node.op == "call_module":
        return f"{left} = {_format_target(root_module, node.target)}({writer.arguments(node.args, node.kwargs)})"
    if node.op == "get_attr":
        return f"{left} = {_format_target(root_module, node.target)}"
    raise NotImplementedError(f"node: {node.op} {node.target}")


def _function_call(node: Any, name: str, left: str, writer: WriterLike) -> str:
    short = getattr(node.target, "__name__", None)
    if getattr(node.target, "__module__", None) == "_operator":
        if short in MAGIC_METHODS:
            return f"{left} = {MAGIC_METHODS[short].format(*map(writer.value, node.args))}"
        if short in INPLACE_METHODS:
            changed = INPLACE_METHODS[short].format(*map(writer.value, node.args))
            return f"{changed};  {left} = {writer.value(node.args[0])}"
    qualified = _get_qualified_name(node.target)
    found = writer.add_global(qualified, node.target)
    if found == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
        return f"{left} = {_format_target(writer.value(node.args[0]), node.args[1])}"
    if node.meta.get("is_wrapped", False):
        writer.wrapped.setdefault(found)
    return f"{left} = {found}({writer.arguments(node.args, node.kwargs)})"


def indented(text: str) -> str:
    """Return the lines of a text, four columns further to the right."""
    return "\n".join(f"    {line}" for line in text.rstrip().split("\n"))
