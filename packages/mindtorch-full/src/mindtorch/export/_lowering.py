"""Running an exported graph without writes in place, and with the operators of a table taken apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._higher_order_ops.cond import CondOp
from mindtorch._higher_order_ops.while_loop import WhileLoopOp
from mindtorch.func._functionalize import FunctionalTensor, _Level
from mindtorch.fx.experimental._proxy_mode import get_proxy_mode
from mindtorch.fx.experimental._proxy_tracking import track_tensor_tree
from mindtorch.utils import _pytree as pytree
from mindtorch.utils._python_dispatch import _disable_current_modes, _pop_mode_temporarily
from mindtorch_dispatch.extend.overloads import OpOverload

aten = torch.ops.aten


class _LowerLevel(_Level):
    """The level of a graph that is lowered: batch normalization by the operators whose schema says what they write."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not aten.native_batch_norm.default:
            return super().__torch_dispatch__(func, types, args, kwargs)
        inner = self.unwrapped(args)
        means, variances, training = args[3:6]
        if not training:
            found = aten._native_batch_norm_legit_no_training.default(*inner[:5], *inner[6:])
        elif means is None or variances is None:
            found = aten._native_batch_norm_legit.no_stats(*inner[:3], *inner[5:])
        else:
            found = aten._native_batch_norm_legit_functional.default(*inner)
            means.write(found[3])
            variances.write(found[4])
        return self.wrapped(tuple(found[:3]))


class Lowering:
    """What `run_decompositions` records: no writes, and none of the operators that a table names.

    Composed operators that the table does not name stay whole, but for those that write or give views.
    """

    def __init__(self, table: Mapping[OpOverload, Any]) -> None:
        self.table = dict(table)
        self.level = _LowerLevel(copies=False)

    def entered(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs as tensors that are written without a write."""
        self.level = _LowerLevel(copies=False)
        known: dict[int, Any] = {}
        return tuple(
            known.setdefault(id(one), FunctionalTensor.wrap(self.level, one)) if isinstance(one, torch.Tensor) else one
            for one in given
        )

    def call(self, mod: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a program's module gives."""
        leaves = pytree.tree_leaves((args, kwargs))
        with torch.no_grad(), self.level:
            out = _Run(mod, self).run(*leaves, enable_io_processing=False)
        return pytree.tree_unflatten(list(out), mod._out_spec)

    def left(self, entered: tuple[Any, ...], out: list[Any]) -> tuple[dict[int, Any], list[Any]]:
        """Return the new values of the inputs that were written, by place, and the results as plain tensors."""
        written = {
            place: one.current()
            for place, one in enumerate(entered)
            if isinstance(one, FunctionalTensor) and one._memory.writes
        }
        return written, self.level.unwrapped(out)

    def whole(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Record a composed operator as one, and return its result."""
        tracer = get_proxy_mode().tracer
        args, kwargs = self.level.unwrapped((args, kwargs))
        proxies = pytree.tree_map(tracer.unwrap_proxy, (args, kwargs))
        name = tracer.graph._target_to_str(target.overloadpacket.__name__)
        made = tracer.create_proxy("call_function", target, *proxies, name=name)
        with _disable_current_modes(), torch.no_grad():
            out = target(*args, **kwargs)
        track_tensor_tree(out, made, constant=None, tracer=tracer)
        return self.level.wrapped(out)


class _Run(fx.Interpreter):
    """Runs the graph of a program."""

    def __init__(self, mod: torch.nn.Module, lowering: Lowering) -> None:
        super().__init__(mod)
        self.lowering = lowering

    def run_node(self, n: fx.Node) -> Any:
        """Run a node; what is recorded for it is of the same line and submodule of the program."""
        graph = get_proxy_mode().tracer.graph
        last = next(iter(reversed(graph.nodes)), None)
        made = super().run_node(n)
        for node in reversed(graph.nodes):
            if node is last:
                break
            node.meta.pop("stack_trace", None)
            node.meta.update({name: n.meta[name] for name in ("stack_trace", "nn_module_stack") if name in n.meta})
        return made

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Run a submodule; the check of a call's arguments has passed already."""
        return None if target == "_guards_fn" else super().call_module(target, args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Run an operator."""
        if isinstance(target, CondOp | WhileLoopOp):
            return self._control_flow(target, args)
        if target is torch._C._set_grad_enabled:  # below autograd there are no gradients
            return None
        if target in _IN_OTHER_WORDS:
            return _IN_OTHER_WORDS[target](*args, **kwargs)
        if isinstance(target, OpOverload) and target._can_decompose():
            if target in self.lowering.table:
                return self.lowering.table[target](*args, **kwargs)
            if _stays_whole(target):
                return self.lowering.whole(target, args, kwargs)
        return super().call_function(target, args, kwargs)

    def _control_flow(self, target: Any, args: tuple[Any, ...]) -> Any:
        """Record a choice or a loop again; its functions become graphs without writes, too."""
        level = self.lowering.level

        def lowered(module: Any) -> Any:
            if not isinstance(module, fx.GraphModule):
                return module

            def run(*given: Any) -> Any:
                with level:
                    return level.unwrapped(_Run(module, self.lowering).run(*level.wrapped(given)))

            return run

        given = [lowered(one) for one in level.unwrapped(args)]
        with _pop_mode_temporarily():  # the level, which is the innermost mode
            made = target(*given)
        return level.wrapped(made)


def _stays_whole(op: OpOverload) -> bool:
    """Return whether an operator neither writes to its arguments nor may return one of them or a view of one."""
    if torch.Tag.maybe_aliasing_or_mutating in op.tags:
        return False
    return all(one.alias is None for one in (*op.declared.arguments, *op.declared.returns))


def _dropout(input: Any, p: float, train: bool) -> Any:
    return aten.native_dropout(input, p, True)[0] if train and p > 0 else input


def _copy(target: Any, source: Any, non_blocking: bool = False) -> Any:
    """Put a tensor in place of another's contents; it is converted and expanded only where that changes something."""
    same = target.shape == source.shape and target.dtype is source.dtype
    return aten.copy_(target, source) if not same else target.write(source.current()) or target


_IN_OTHER_WORDS: dict[OpOverload, Callable[..., Any]] = {aten.dropout.default: _dropout, aten.copy_.default: _copy}
"""Operators that are recorded by others than those which they are composed of."""
