"""Code of TorchScript archives: what its statements may be, and the Python functions that are made of them.

TorchScript writes a subset of Python. A function is accepted when every part of it is in that subset and the names that it
reads are its own or those of the language; attributes are asked for by the language's `getattr`, which knows those that the
code declares and no others. So a file cannot reach Python itself. Types are left out: values carry theirs.
"""

import ast
import linecache
import math
import re
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

_STATEMENTS = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Return, ast.Pass, ast.Break,
    ast.Continue, ast.With, ast.withitem,
)  # fmt: skip
_EXPRESSIONS = (
    ast.Call, ast.keyword, ast.Name, ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Subscript, ast.Slice,
    ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.expr_context, ast.operator, ast.unaryop, ast.boolop,
    ast.cmpop,
)  # fmt: skip
_TYPED = {"annotate": 0, "unchecked_cast": 0, "uninitialized": 0, "isinstance": 1}
"""Words of the language whose argument at this place is a type; it is handed on as text."""
_NAMESPACES = ("torch", "ops", "prims", "__torch__", "CONSTANTS")
_SPECIAL = re.compile(r"__\w+__")
_JOINT = "·"
"""What stands for the dots in the name under which code finds something of the language: no name of its own has it."""
_METHODS = frozenset(
    f"__{name}__"
    for name in (
        "init len contains getitem setitem delitem setstate getstate enter exit eq ne lt le gt ge hash str add sub mul "
        "truediv floordiv mod pow neg and or xor call"
    ).split()
)
"""Methods of Python's protocols that a class may have."""
_LARGEST = 64 << 20
"""Bytes of code that an archive may bring."""


class CodeError(RuntimeError):
    """Code that is no TorchScript."""


def check_name(name: str, place: str) -> None:
    """Refuse a name that Python gives a meaning."""
    if _JOINT in name or (_SPECIAL.fullmatch(name) and name not in _METHODS):
        raise CodeError(f"{place}: {name} is no name of TorchScript")


def parse(text: str, place: str) -> ast.Module:
    """Return the syntax of a file of an archive. Raises CodeError for what is no TorchScript."""
    if len(text) > _LARGEST:
        raise CodeError(f"{place} is too large for code: {len(text)} characters")
    try:
        return ast.parse(text, place)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CodeError(f"{place} is no TorchScript: {error}") from None


def dotted(node: ast.expr) -> str | None:
    """Return `a.b.c` of a chain of names, None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else None


class _Checked(ast.NodeTransformer):
    """Refuses what is no TorchScript and binds the names of the language: `torch.add` becomes one name."""

    def __init__(self, place: str, resolve: Callable[[str], Any], words: dict[str, Any]) -> None:
        self._place, self._resolve = place, resolve
        self.globals: dict[str, Any] = {"__builtins__": {}, **words}
        self.locals: set[str] = set()

    def refuse(self, node: ast.AST, why: str) -> CodeError:
        """Return the error for a part of the code."""
        return CodeError(f"{self._place}, line {getattr(node, 'lineno', '?')}: {why}")

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _STATEMENTS + _EXPRESSIONS):
            raise self.refuse(node, f"{type(node).__name__} is no part of TorchScript")
        return super().visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = dotted(node)
        if name is not None and name.partition(".")[0] in _NAMESPACES:
            return self._global(node, name)
        if not isinstance(node.ctx, ast.Load):
            raise self.refuse(node, f"{node.attr} is assigned to beside others")
        return self._call_word("getattr", node, [self.visit(node.value), ast.Constant(node.attr)])

    def _call_word(self, word: str, node: ast.AST, arguments: list[ast.expr]) -> ast.Call:
        return ast.copy_location(ast.Call(ast.Name(word, ast.Load()), arguments, []), node)  # type: ignore[type-var]

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute):
            given = [self.visit(target.value), ast.Constant(target.attr), self.visit(node.value)]
            return ast.copy_location(ast.Expr(self._call_word("setattr", node, given)), node)
        return self.generic_visit(node)

    def _global(self, node: ast.expr, name: str) -> ast.expr:
        if isinstance(node.ctx, ast.Store):  # type: ignore[attr-defined]
            raise self.refuse(node, f"{name} cannot be assigned to")
        bound = name.replace(".", _JOINT)
        if bound not in self.globals:
            self.globals[bound] = self._resolve(name)
        return ast.copy_location(ast.Name(bound, ast.Load()), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = node.id in self.locals or node.id in self.globals
        if _SPECIAL.fullmatch(node.id) or _JOINT in node.id or (isinstance(node.ctx, ast.Load) and not known):
            raise self.refuse(node, f"{node.id} is not defined")
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.refuse(node, "** is no part of TorchScript")
        place = _TYPED.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if place is not None and len(node.args) > place:
            node.args[place] = ast.copy_location(ast.Constant(ast.unparse(node.args[place])), node)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return None
        return self.visit_Assign(ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, (bool, int, float, complex, str, type(None))):
            raise self.refuse(node, f"{type(node.value).__name__} is no constant of TorchScript")
        return node


def _stored(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def make_function(
    function: ast.FunctionDef, place: str, resolve: Callable[[str], Any], words: dict[str, Any]
) -> FunctionType:
    """Return the Python function of a definition in an archive.

    `resolve(name)` returns what `torch.add` or `__torch__.module.function` means, `words` the language's own names.
    Raises CodeError for what is no TorchScript.
    """
    checker = _Checked(place, resolve, words)
    arguments = function.args
    if arguments.vararg or arguments.kwarg or function.decorator_list or getattr(function, "type_params", None):
        raise checker.refuse(function, "a function of TorchScript has plain parameters")
    names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    checker.locals = {one.arg for one in names} | set(_stored(function))
    for one in names:
        one.annotation = None
    for name in (*checker.locals, function.name):
        check_name(name, place)
    for defaults in (arguments.defaults, arguments.kw_defaults):
        defaults[:] = [None if one is None else checker.visit(one) for one in defaults]  # type: ignore[misc]
    body = [kept for statement in function.body if (kept := checker.visit(statement)) is not None]
    function.body = body or [ast.Pass()]
    function.returns = None
    module = ast.fix_missing_locations(ast.Module([function], []))
    try:
        code: CodeType = compile(module, place, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CodeError(f"{place} is no TorchScript: {error}") from None
    made_names: dict[str, Any] = {}
    exec(code, checker.globals, made_names)
    made: FunctionType = made_names[function.name]
    return made


def show_lines(text: str, place: str) -> None:
    """Have tracebacks show the lines of an archive's file."""
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)


def constant_words() -> dict[str, Any]:
    """Return the numbers that TorchScript writes as names."""
    return {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)}
