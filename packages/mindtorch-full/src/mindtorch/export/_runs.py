"""Captures of a program at several sizes: which of them it takes, and how they are bound to each other.

Every capture runs on fakes. Two captures that call the same operators in the same order are of one program, whose numbers
follow the sizes; where another size gives other calls, or an error, the program does not take that size.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.export._capture import Captured, capture
from mindtorch.export._lowering import Lowering
from mindtorch.export._names import leaves_of
from mindtorch.export._specifications import Varying
from mindtorch.tensor.indexing import whole_slices_kept
from mindtorch.utils import _pytree as pytree

_FAR = 4096
"""Sizes without a bound are tried as far as that beyond the example's."""

_ASKED = (16, 32, 64, 100, 128, 224, 256, 512, 1024)
_PERIODS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64)
_SAMPLES = 8


@dataclasses.dataclass
class Root:
    """A size that varies on its own, and what the runs say of it: bounds, a number it is a multiple of, another size.

    `holes` are single sizes between the bounds that the program does not take.

    `tie` is `(name, times, plus)` of the size that this one follows; `fixed` says that the program takes one value only.
    """

    name: str
    hint: int
    members: list[Varying]
    low: int
    high: Any
    step: int = 1
    tie: tuple[str, int, int] | None = None
    fixed: bool = False
    holes: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Run:
    """One capture: what it calls, and the numbers and shapes that it calls it with."""

    captured: Captured
    structure: list[Any]
    numbers: list[int | float]
    shapes: list[int]


class Runs:
    """The captures of one program.

    Args:
        named: the arguments of the example's call, by name.
        roots: the sizes that vary.
    """

    def __init__(
        self,
        mod: torch.nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        named: dict[str, Any],
        roots: dict[str, Root],
        lowering: Lowering | None = None,
    ) -> None:
        self._mod = mod
        self._lowering = lowering
        self._leaves, self._spec = pytree.tree_flatten((args, kwargs))
        self._paths = [path for _, path, _ in leaves_of(named)]
        self._roots = roots
        self.hints = {name: root.hint for name, root in roots.items()}
        self._known: dict[tuple[int, ...], Run | None] = {}
        self.refusal: Exception | None = None
        """What the program raised last, at sizes that it does not take."""
        self.first = self._run(self.hints)

    def at(self, sizes: dict[str, int]) -> Run | None:
        """Return the run at these sizes, the others as in the example; None where it is of another program."""
        full = {**self.hints, **sizes}
        for name, root in self._roots.items():
            if root.tie is not None:
                other, times, plus = root.tie
                full[name] = times * full[other] + plus
        key = tuple(full.values())
        if key not in self._known:
            self._known[key] = self._taken(full)
        return self._known[key]

    def _taken(self, sizes: dict[str, int]) -> Run | None:
        try:
            made = self._run(sizes)
        except Exception as error:  # noqa: BLE001  # whatever a program raises, it does not take these sizes
            self.refusal = error
            return None
        return made if made.structure == self.first.structure else None

    def sizes_of(self, run: Run) -> dict[str, int]:
        """Return the sizes that a run was made at."""
        key = next(key for key, one in self._known.items() if one is run)
        return dict(zip(self.hints, key, strict=True))

    def _run(self, sizes: dict[str, int]) -> Run:
        mode = FakeTensorMode(allow_non_fake_inputs=True, static_shapes=True)
        shapes: dict[int, list[int]] = {}
        for root in self._roots.values():
            for member in root.members:
                leaf = self._leaves[self._paths.index(member.path)]
                times, plus = member.linear
                shapes.setdefault(id(leaf), list(leaf.shape))[member.place] = times * sizes[root.name] + plus
        fakes = {id(leaf): _fake(mode, leaf, shapes[id(leaf)]) for leaf in self._leaves if id(leaf) in shapes}
        args, kwargs = pytree.tree_unflatten([fakes.get(id(leaf), leaf) for leaf in self._leaves], self._spec)
        with whole_slices_kept():
            return _described(capture(self._mod, args, kwargs, self._lowering))


def _fake(mode: FakeTensorMode, leaf: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Return a fake like a tensor, of another shape, its dimensions in the same order in memory."""
    order = sorted(range(leaf.dim()), key=lambda place: (-leaf.stride(place), place))
    strides, step = [0] * leaf.dim(), 1
    for place in reversed(order):
        strides[place] = 0 if leaf.stride(place) == 0 and leaf.shape[place] > 1 else step
        step *= max(shape[place], 1) if strides[place] else 1
    with mode:
        return torch.empty_strided(
            shape, strides, dtype=leaf.dtype, device=leaf.device, requires_grad=leaf.requires_grad
        )


def _described(captured: Captured) -> Run:
    run = Run(captured, [], [], [])
    places = {node: place for place, node in enumerate(nodes_of(captured.module))}

    def walk(value: Any) -> Any:
        if isinstance(value, fx.Node):
            return ("node", places[value])
        if type(value) in (int, float):
            run.numbers.append(value)
            return type(value)
        if isinstance(value, list | tuple):
            return [type(value).__name__, *map(walk, value)]
        if isinstance(value, dict):
            return [(key, walk(one)) for key, one in value.items()]
        if isinstance(value, slice):
            return ["slice", walk(value.start), walk(value.stop), walk(value.step)]
        return repr(value)

    for node in nodes_of(captured.module):
        shapes = [tuple(one.shape) for one in values_of(node)]
        run.structure.append(
            (node.op, str(node.target), walk(node.args), walk(node.kwargs), [len(one) for one in shapes])
        )
        run.shapes += [size for shape in shapes for size in shape]
    for name, value in captured.constants.items():
        if name.startswith("lifted_tensor_"):
            run.structure.append((name, value.tolist()))
    return run


def nodes_of(module: fx.GraphModule) -> Iterator[fx.Node]:
    """Give the nodes of a graph in order, behind each function of `torch.cond` or `while_loop` the nodes of that."""
    for node in module.graph.nodes:
        yield node
        inner = inner_graph(module, node)
        if inner is not None:
            yield from nodes_of(inner)


def inner_graph(module: fx.GraphModule, node: fx.Node) -> fx.GraphModule | None:
    """Return the function of `torch.cond` or `while_loop` that a node takes from its module, if it takes one."""
    held = getattr(module, node.target, None) if node.op == "get_attr" else None
    return held if isinstance(held, fx.GraphModule) else None


def values_of(node: fx.Node) -> list[Any]:
    """Return the tensors that a node notes as its value."""
    return [one for one in pytree.tree_leaves(node.meta.get("val")) if isinstance(one, torch.Tensor)]


class Search:
    """Finds what the runs say of the sizes that vary."""

    def __init__(self, runs: Runs, roots: dict[str, Root]) -> None:
        self.runs = runs
        self.roots = roots

    @property
    def free(self) -> list[Root]:
        """The sizes that are neither fixed nor follow others."""
        return [root for root in self.roots.values() if not root.fixed and root.tie is None]

    def finished(self) -> list[Run]:
        """Find ties, steps and bounds; return runs at other sizes, from which numbers are fitted.

        Raises:
            NotImplementedError: sizes are bound to each other in a way that is not found.
        """
        if not self._together():
            alone = [root for root in self.free if not self._moves({root.name: 1}) and not self._moves({root.name: -1})]
            while alone:
                root = alone.pop(0)
                followers = self._followers(root, alone)
                alone = [one for one in alone if one not in followers]
                if not followers:
                    self._stepped(root)
            if self.free and not self._together():
                raise NotImplementedError(
                    "torch.export.export: how the sizes "
                    + ", ".join(member.source for root in self.free for member in root.members[:1])
                    + " are bound to each other is not found; name those that follow others as such, as `2 * dim + 1`"
                ) from self.runs.refusal
        for root in self.free:
            root.low, root.high = self._lowest(root), self._highest(root)
            root.holes = self._holes(root)
        return self._samples()

    def _holes(self, root: Root) -> list[int]:
        """Return sizes between the bounds that are refused, of those that programs like to ask for."""
        low, high = max(root.low, 2), root.high
        tried = {*range(low, low + 8), *range(root.hint - 3, root.hint + 4), *_ASKED}
        found = [size for size in sorted(tried) if low <= size <= high and (size - root.hint) % root.step == 0]
        return [size for size in found if self.runs.at({root.name: size}) is None]

    def _moves(self, steps: dict[str, int]) -> bool:
        sizes = {name: self.roots[name].hint + step for name, step in steps.items()}
        return self._within(sizes) and self.runs.at(sizes) is not None

    def _within(self, sizes: dict[str, int]) -> bool:
        return all(max(self.roots[name].low, 2) <= size <= self.roots[name].high for name, size in sizes.items())

    def _together(self) -> bool:
        """Return whether all sizes can be moved at once, each by another step, up or down."""
        for sign in (1, -1):
            steps = {root.name: sign * (place + 1) * root.step for place, root in enumerate(self.free)}
            if self._moves(steps):
                return True
        sizes: dict[str, int] = {}
        for place, root in enumerate(self.free):  # bounds that leave no room on one side
            step = (place + 1) * root.step
            below = root.hint + step > root.high
            sizes[root.name] = root.hint - step if below else root.hint + step
        return self._within(sizes) and self.runs.at(sizes) is not None

    def _followers(self, root: Root, others: list[Root]) -> list[Root]:
        """Find sizes that can only be moved together with one, and let them follow it."""
        for count in range(1, len(others) + 1):
            for chosen in itertools.combinations(others, count):
                if any(self._moves({one.name: step for one in (root, *chosen)}) for step in (1, -1)):
                    for one in chosen:
                        one.tie = (root.name, 1, one.hint - root.hint)
                    return list(chosen)
        for other in others:
            times = other.hint // root.hint
            if times > 1 and other.hint % root.hint == 0 and self._moves({root.name: 1, other.name: times}):
                other.tie = (root.name, times, 0)
                return [other]
        return []

    def _stepped(self, root: Root) -> None:
        """Find the number that a size is a multiple of, but for the rest; a size without one is fixed."""
        period = next(
            (one for one in _PERIODS if self._moves({root.name: one}) or self._moves({root.name: -one})), None
        )
        if period is None:
            root.fixed = True
        else:
            root.step = period

    def _lowest(self, root: Root) -> int:
        given = max(root.low, 2)
        first = root.hint - (root.hint - given) // root.step * root.step
        if self.runs.at({root.name: first}) is not None:
            return root.low
        return self._edge(root, first)

    def _highest(self, root: Root) -> Any:
        far = min(root.high, root.hint * 16 + _FAR)
        last = root.hint + int(far - root.hint) // root.step * root.step
        return root.high if self.runs.at({root.name: last}) is not None else self._edge(root, last)

    def _edge(self, root: Root, refused: int) -> int:
        """Return the last size that is taken on the way from the example's to one that is refused."""
        taken = root.hint
        while abs(refused - taken) > root.step:
            middle = taken + (refused - taken) // root.step // 2 * root.step
            middle = middle if middle != taken else taken + (root.step if refused > taken else -root.step)
            if self.runs.at({root.name: middle}) is not None:
                taken = middle
            else:
                refused = middle
        return taken

    def _samples(self) -> list[Run]:
        chance = random.Random(0)
        found = [self.runs.first]
        for _ in range(_SAMPLES + 3 * len(self.free) if self.free else 0):
            sizes = {}
            for root in self.free:
                low = max(root.low, 2)
                low = root.hint - (root.hint - low) // root.step * root.step
                high = int(min(root.high, root.hint + 60 * root.step))
                allowed = [size for size in range(low, high + 1, root.step) if size not in root.holes]
                sizes[root.name] = chance.choice(allowed)
            run = self.runs.at(sizes)
            if run is None:
                raise NotImplementedError(
                    "torch.export.export: the program takes some of the sizes in the bounds and not others, as "
                    + ", ".join(f"{self.roots[name].members[0].source} == {size}" for name, size in sizes.items())
                ) from self.runs.refusal
            if not any(run is one for one in found):
                found.append(run)
        return found
