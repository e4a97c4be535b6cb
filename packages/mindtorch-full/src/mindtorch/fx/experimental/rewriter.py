"""`torch.fx.experimental.rewriter`: programs with `assert` and annotated variables, made traceable."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._symbolic_trace import Tracer
from mindtorch.fx.graph import Graph
from mindtorch.nn import Module

__all__: list[str] = []


class AST_Rewriter(ast.NodeTransformer):
    """Writes statements that cannot be traced as calls that can."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """Return the function, compiled anew from its changed source, with its old globals and defaults."""
        source = textwrap.dedent("".join(inspect.getsourcelines(fn)[0]))
        tree = ast.fix_missing_locations(self.visit(ast.parse(source)))
        namespace = dict(fn.__globals__)
        before = set(namespace)
        exec(compile(tree, "", "exec", dont_inherit=True), namespace)
        made = [name for name in namespace if name not in before and name != "__builtins__"]
        if len(made) != 1:
            raise AssertionError(f"Expected 1 new key, got {len(made)}")
        compiled = namespace[made[0]]
        found: Any = FunctionType(
            compiled.__code__, fn.__globals__, compiled.__name__, compiled.__defaults__, compiled.__closure__
        )
        found = functools.update_wrapper(found, compiled)
        found.__kwdefaults__ = copy.copy(compiled.__kwdefaults__)
        return found

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        """Write `assert test, text` as a call of `torch._assert`."""
        function = ast.Attribute(ast.Name("torch", ast.Load()), "_assert", ast.Load())
        call = ast.Call(function, [node.test, node.msg or ast.Constant("")], [])
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        """Write `name: kind = value` as `name = annotate(value, kind)`."""
        arguments: Any = [node.value, node.annotation]
        return ast.Assign([node.target], ast.Call(ast.Name("annotate", ast.Load()), arguments, []))


class RewritingTracer(Tracer):
    """Traces a program whose `assert` statements and annotated variables are rewritten first."""

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """Return the graph of a program."""
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(fn: Any) -> Any:
    """Return a function, or a module with the modules among its attributes, rewritten."""
    if not isinstance(fn, Module):
        return AST_Rewriter().rewrite(fn)

    class RewrittenModule(Module):
        def __init__(self, orig: Module) -> None:
            super().__init__()
            for name, value in orig.__dict__.items():
                self.__dict__[name] = copy.copy(_rewrite(value) if isinstance(value, Module) else value)

    RewrittenModule.forward = AST_Rewriter().rewrite(fn.forward)  # type: ignore[arg-type, method-assign]
    return RewrittenModule(fn)


adopt(globals())
