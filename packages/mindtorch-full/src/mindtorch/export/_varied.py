"""Programs whose sizes vary: the graph of the example, in which numbers that follow the sizes are computed from them."""

from __future__ import annotations

import dataclasses
import hashlib
import operator
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch.export._bounds import refuse, roots_of
from mindtorch.export._capture import Captured
from mindtorch.export._fits import Fits
from mindtorch.export._lowering import Lowering
from mindtorch.export._names import combined, leaves_of
from mindtorch.export._runs import Root, Run, Runs, Search, inner_graph, nodes_of, values_of
from mindtorch.export._sizes import Size, Sum, Symbol, ValueRanges, linear, written
from mindtorch.export._specifications import Varying, varying
from mindtorch.export.dynamic_shapes import _int_oo
from mindtorch.export.graph_signature import SymIntArgument

_NO_END = 2**63 - 1
"""The end of a slice that has none."""


@dataclasses.dataclass
class Limit:
    """What a call's size must be: `times * other + plus`, or between bounds, or a multiple but for the rest."""

    text: str
    size: str
    low: int = 0
    high: Any = _int_oo
    step: int = 1
    rest: int = 0
    hole: int = -1
    other: str = ""
    times: int = 1
    plus: int = 0

    def holds(self, sizes: dict[str, int]) -> bool:
        """Return whether the sizes of a call are so."""
        size = sizes[self.size]
        if self.other:
            return size == self.times * sizes[self.other] + self.plus
        return bool(self.low <= size <= self.high) and size != self.hole and size % self.step == self.rest


@dataclasses.dataclass
class Varied:
    """A capture, the bounds of its sizes, and what a call is checked for."""

    captured: Captured
    ranges: dict[Any, ValueRanges]
    limits: list[Limit]
    free: set[str]
    """The sizes that a call may choose, as `x.size()[0]`."""


def capture_varied(
    mod: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    items: list[Varying],
    lowering: Lowering | None = None,
) -> Varied:
    """Capture a program whose sizes vary.

    Args:
        lowering: what records other operators than those that the program calls.

    Raises:
        UserError: the program does not take all the sizes that it was said to take.
        ValueError: a size of 0 or 1 cannot vary.
        ConstraintViolationError: the example is outside the bounds.
    """
    named = combined(mod.forward, args, kwargs)
    leaves = leaves_of(named)
    owners: dict[int, str] = {}
    shared = {path: owners.setdefault(id(leaf), path) for _, path, leaf in leaves}
    roots = roots_of([item for item in items if shared[item.path] == item.path])
    runs = Runs(mod, args, kwargs, named, roots, lowering)
    search = Search(runs, roots)
    given = {name: (root.low, root.high) for name, root in roots.items()}
    samples = search.finished()
    refuse(roots, given)
    varied = _Program(roots, runs, samples, {path: name for name, path, _ in leaves}).finished()
    for path, owner in shared.items():  # one tensor that is given twice has one size
        varied.free |= {f"{path}{text.removeprefix(owner)}" for text in varied.free if text.startswith(f"{owner}.size")}
    return varied


def sizes_of_inputs(program: Any, given: dict[str, Any]) -> None:
    """Let the sizes of a program's call vary as dimensions say; the program is known to take them.

    Args:
        program: an exported program, whose example they fit.
        given: for every argument the dimensions that vary.
    """
    args, kwargs = program.example_inputs
    named = dict(zip(program._names, (*args, *kwargs.values()), strict=True))
    items = varying(named, given)
    roots = roots_of(items)
    program._varying = items
    program._limits = _limits(roots)
    program._free = {member.text for root in roots.values() if not root.fixed for member in root.members}


class _Program:
    """Makes one program of the runs: the example's graph, whose numbers are computed."""

    def __init__(self, roots: dict[str, Root], runs: Runs, samples: list[Run], names: dict[str, str]) -> None:
        self.roots = roots
        self.captured = runs.first.captured
        self.samples = samples
        self.names = names
        self.symbols = _named(roots)
        self.leading = {self.symbols[root.name]: root for root in roots.values() if not root.fixed and root.tie is None}
        sizes = [runs.hints if run is runs.first else runs.sizes_of(run) for run in samples]
        at = [{symbol: one[root.name] for symbol, root in self.leading.items()} for one in sizes]
        self.fits = Fits(list(self.leading), at)
        self.graph = fx.Graph()
        self.nodes: dict[fx.Node, fx.Node] = {}
        self.columns: dict[fx.Node, tuple[Any, ...]] = {}
        self.made: dict[Any, fx.Node] = {}
        self.holders: dict[Symbol, fx.Node] = {}

    def finished(self) -> Varied:
        """Return the program."""
        self._note_shapes(list(nodes_of(self.captured.module)), zip(*(run.shapes for run in self.samples), strict=True))
        numbers = zip(*(run.numbers for run in self.samples), strict=True)
        self.graph = self._rewritten(self.captured.module, self._hold, numbers)
        for spec, value in zip(self.captured.signature.output_specs, self._results(), strict=True):
            if value in self.columns:
                spec.arg = SymIntArgument(value.name)
            elif isinstance(value, fx.Node):
                spec.arg.name = value.name
        self.captured.module = fx.GraphModule(self.captured.module, self.graph)
        free = {member.text for root in self.roots.values() if not root.fixed for member in root.members}
        return Varied(self.captured, self._ranges(), _limits(self.roots), free)

    def _rewritten(self, module: fx.GraphModule, hold: Callable[[], None], numbers: Any) -> fx.Graph:
        """Return the graph of a program, or of a function that it calls, with its numbers computed from the sizes."""
        self.graph, self.nodes, self.made, self.holders = fx.Graph(), {}, {}, {}
        held = False
        for node in list(module.graph.nodes):
            if node.op != "placeholder" and not held:
                hold()
                held = True
            self._copy(node, numbers)
            inner = inner_graph(module, node)
            if inner is not None:
                kept = self.graph, self.nodes, self.made, self.holders
                inner.graph = self._rewritten(inner, self._hold_inside, numbers)
                inner.recompile()
                self.graph, self.nodes, self.made, self.holders = kept
        for holder in self.holders.values():
            if not holder.users:
                self.graph.erase_node(holder)
        return self.graph

    def _results(self) -> tuple[Any, ...]:
        found: tuple[Any, ...] = next(iter(reversed(self.graph.nodes))).args[0]
        return found

    def _expression(self, column: tuple[Any, ...]) -> Sum | None:
        return None if any(type(value) is not int for value in column) else self.fits.expression(column)

    def _note_shapes(self, nodes: list[fx.Node], columns: Any) -> None:
        """Let the values that nodes note show their sizes as expressions; those without one are symbols of their own."""
        unknown: dict[tuple[int, ...], Symbol] = {}
        for node in nodes:
            for value in values_of(node):
                shape: list[int] = []
                for size, column in zip(value.shape, columns, strict=False):
                    expr = None if len(set(column)) == 1 else self._expression(column)
                    if expr is None and len(set(column)) > 1:
                        expr = linear(unknown.setdefault(column, Symbol(f"u{len(unknown)}")))
                    shape.append(size if expr is None else Size(expr, int(size)))
                value._varying = tuple.__new__(torch.Size, shape)  # whose constructor makes plain numbers of them

    def _hold(self) -> None:
        """Write what takes the sizes of the arguments, behind them and numbered as torch numbers it."""
        placeholders = {node.name: node for node in self.graph.nodes}
        for place, (symbol, root) in enumerate(self.leading.items()):
            member = next((one for one in root.members if one.linear == (1, 0)), root.members[0])
            times, plus = member.linear
            value: Any = self.graph.create_node(
                "call_function",
                torch.ops.aten.sym_size.int,
                (placeholders[self.names[member.path]], member.place),
                name=f"sym_size_int_{len(self.leading) + place}",
            )
            self.columns[value] = tuple(times * run[symbol] + plus for run in self.fits.runs)
            self._note(value)
            value = self._call(operator.sub, value, plus) if plus else value
            self.holders[symbol] = self._call(operator.floordiv, value, times) if times != 1 else value

    def _hold_inside(self) -> None:
        """Write what takes the sizes of the arguments of a function that the program calls."""
        for place, symbol in enumerate(self.leading):
            for node in list(self.graph.nodes):
                shape = getattr(node.meta.get("val"), "shape", ())
                dim = next((dim for dim, size in enumerate(shape) if _is(size, symbol)), None)
                if dim is not None:
                    name = f"sym_size_int_{len(self.leading) + place}"
                    taken = (node, dim)
                    made = self.graph.create_node("call_function", torch.ops.aten.sym_size.int, taken, name=name)
                    self.columns[made] = tuple(run[symbol] for run in self.fits.runs)
                    self._note(made)
                    self.holders[symbol] = made
                    break

    def _copy(self, node: fx.Node, numbers: Any) -> None:
        def walk(value: Any) -> Any:
            if isinstance(value, fx.Node):
                return self.nodes[value]
            if type(value) in (int, float):
                return self._number(node, next(numbers))
            if isinstance(value, list | tuple):
                return type(value)(map(walk, value))
            if isinstance(value, dict):
                return {key: walk(one) for key, one in value.items()}
            if isinstance(value, slice):
                return slice(walk(value.start), walk(value.stop), walk(value.step))
            return value

        args, kwargs = walk(node.args), walk(node.kwargs)
        if self._takes_all(node, args):
            self.nodes[node] = args[0]
            return
        name = node.name
        if node.target is torch.ops.aten.slice.Tensor and args[2:3] == (0,) and isinstance(args[3], fx.Node):
            args = (*args[:2], None, *args[3:])  # `x[:size]`, as torch writes it
        if node.op == "call_function":
            name = self.graph._target_to_str(getattr(node.target, "overloadpacket", node.target).__name__)
        made = self.graph.create_node(node.op, node.target, args, kwargs, name, node.type)
        if node.op == "placeholder":
            made.name = node.name  # also where Python has the name, as `input`
        made.meta = dict(node.meta)
        self.nodes[node] = made

    def _takes_all(self, node: fx.Node, args: tuple[Any, ...]) -> bool:
        """Return whether a call is a slice of everything, whatever the sizes are, as torch finds it: from their bounds."""
        if node.target is not torch.ops.aten.slice.Tensor or any(isinstance(one, fx.Node | None) for one in args[1:]):
            return False
        dim, start, end, step = (*args[1:], *(0, 0, _NO_END, 1)[len(args) - 1 :])
        size = args[0].meta["val"].shape[dim]
        if isinstance(size, Size):
            highs = [self.leading[symbol].high if symbol in self.leading else _int_oo for symbol in size.expr.symbols]
            known = end == _NO_END and _int_oo not in highs
        else:
            known = end >= size
        return bool(start == 0 and step == 1 and known)

    def _number(self, node: fx.Node, column: tuple[Any, ...]) -> Any:
        """Return a number of a call, or the node that computes it from the sizes."""
        if len(set(column)) == 1:
            return column[0]
        expr = self._expression(column)
        if expr is not None and not expr.symbols <= self.holders.keys():
            raise NotImplementedError(
                f"torch.export.export: a number that {node.target} is called with in a function of torch.cond or while_loop "
                f"is {expr}, which no argument of the function has as a size"
            )
        if expr is not None:
            return written(expr, self.holders, self._call)
        for power in (0.5, -0.5, -1.0):  # attention is scaled by roots of sizes, means by their inverses
            whole = tuple(round(value ** (1 / power)) if value > 0 else 0 for value in column)
            if all(size > 0 and size**power == value for size, value in zip(whole, column, strict=True)):
                expr = self._expression(whole)
                if expr is not None:
                    return self._call(operator.pow, written(expr, self.holders, self._call), power)
        raise NotImplementedError(
            f"torch.export.export: a number that {node.target} is called with follows the sizes in a way that is not found: "
            f"{column[0]} in the example, {', '.join(map(str, column[1:4]))} at other sizes"
        )

    def _call(self, function: Callable[..., Any], left: Any, right: Any) -> fx.Node:
        key = (function, left, right)
        if key not in self.made:
            made = self.graph.create_node("call_function", function, (left, right), name=function.__name__)
            count = len(self.samples)
            lefts, rights = (self.columns.get(one, (one,) * count) for one in (left, right))
            self.columns[made] = tuple(map(function, lefts, rights))
            self._note(made)
            self.made[key] = made
        return self.made[key]

    def _note(self, node: fx.Node) -> None:
        hint = self.columns[node][0]
        expr = self._expression(self.columns[node])
        node.meta["val"] = hint if expr is None else Size(expr, hint)

    def _ranges(self) -> dict[Any, ValueRanges]:
        """Return the bounds of the symbols, and of sizes that follow one."""
        found: dict[Any, ValueRanges] = {}
        for root in self.roots.values():
            if root.fixed:
                continue
            leader = self.roots[root.tie[0]] if root.tie else root
            _, start, more = root.tie or (root.name, 1, 0)
            symbol = self.symbols[leader.name]
            for times, plus in dict.fromkeys([(1, 0), *(member.linear for member in root.members)]):
                factor, extra = times * start, times * more + plus
                if (times, plus) == (1, 0) and root.tie is None:
                    found[symbol] = ValueRanges(root.low, root.high)
                elif (factor, extra) != (1, 0):
                    high = leader.high if leader.high == _int_oo else factor * leader.high + extra
                    found[linear(symbol, factor, extra)] = ValueRanges(factor * leader.low + extra, high)
        return found


def _is(size: Any, symbol: Symbol) -> bool:
    return isinstance(size, Size) and size.expr == linear(symbol)


def _named(roots: dict[str, Root]) -> dict[str, Symbol]:
    """Return the symbol of every size, named by its source as torch names it."""
    taken: set[int] = set()
    numbers: dict[str, list[int]] = {}
    for root in roots.values():
        for member in root.members:
            number = int(hashlib.sha256(member.source.encode()).hexdigest(), 16) % 100
            while number in taken:
                number += 1
            taken.add(number)
            if member.linear == (1, 0) or not numbers.get(root.name):
                numbers.setdefault(root.name, []).append(number)
    for root in roots.values():
        if root.tie is not None and root.tie[1:] == (1, 0):
            numbers[root.tie[0]] += numbers[root.name]
    # Of sizes that are equal, torch keeps the name of the second.
    return {name: Symbol(f"s{found[min(1, len(found) - 1)]}") for name, found in numbers.items()}


def _limits(roots: dict[str, Root]) -> list[Limit]:
    """Return what the sizes of a call are checked for."""
    found: list[Limit] = []
    for root in roots.values():
        if root.fixed:
            continue
        leader = roots[root.tie[0]] if root.tie else root
        first = next((one for one in leader.members if one.linear == (1, 0)), leader.members[0])
        _, start, more = root.tie or (root.name, 1, 0)
        for member in root.members:
            times, plus = member.linear[0] * start, member.linear[0] * more + member.linear[1]
            text = member.text
            if member is not first:
                found.append(_related(text, first, times, plus))
                continue
            if root.low > 2:
                found.append(Limit(f"{text} >= {times * root.low + plus}", text, low=times * root.low + plus))
            if root.high != _int_oo:
                found.append(Limit(f"{text} <= {times * root.high + plus}", text, high=times * root.high + plus))
            for hole in root.holes:
                found.append(Limit(f"{text} != {times * hole + plus}", text, hole=times * hole + plus))
            step, rest = times * root.step, (times * root.hint + plus) % (times * root.step)
            if step > 1:
                more_text = f" + {rest}" if rest else ""
                found.append(Limit(f"{text} == {step} * ({text} // {step}){more_text}", text, step=step, rest=rest))
    return found


def _related(text: str, first: Varying, times: int, plus: int) -> Limit:
    """Return that a size follows another one, which may itself be a multiple of what varies and more."""
    factor, extra = first.linear
    if times % factor:
        raise NotImplementedError(f"torch.export.export: {text} is no whole multiple of {first.text}")
    times //= factor
    plus -= times * extra
    if times == 1 and plus:
        return Limit(f"{first.text} == {-plus} + {text}", text, other=first.text, plus=plus)
    scaled = first.text if times == 1 else f"{times} * {first.text}"
    return Limit(f"{text} == {scaled}{f' + {plus}' if plus else ''}", text, other=first.text, times=times, plus=plus)
