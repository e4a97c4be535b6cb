"""Counting of floating-point operations: a mode that knows what products, convolutions and attention cost."""

from __future__ import annotations

import functools
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch.utils._pytree import tree_map
from mindtorch.utils.module_tracker import ModuleTracker
from mindtorch_dispatch.extend.overloads import OpOverloadPacket
from mindtorch_storage.lazy_import import load as _load

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = torch.ops.aten

flop_registry: dict[Any, Callable[..., int]] = {}
"""Operator to the function that counts its operations, given shapes in the places of tensors."""


def get_shape(i: Any) -> Any:
    """Return a tensor's shape, any other value itself."""
    return i.shape if isinstance(i, torch.Tensor) else i


def shape_wrapper(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a call's values that gives `f` the shapes instead of tensors, the results' as `out_shape`."""

    @functools.wraps(f)
    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> Any:
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)

    return counted


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[..., Any]:
    """Return a decorator that makes a function count the operations of `targets`, one operator or a list of them.

    The function gets the call's arguments and `out_shape`, tensors as shapes; with `get_raw` the tensors themselves and
    `out_val`. ValueError for what is no operator, RuntimeError for one that has a formula.

    >>> from torch.utils.flop_counter import FlopCounterMode, register_flop_formula
    >>> @torch.library.custom_op("docs::cubes", mutates_args=())
    ... def cubes(x: torch.Tensor) -> torch.Tensor:
    ...     return x**3
    >>> @register_flop_formula(torch.ops.docs.cubes)
    ... def formula(x_shape, out_shape=None, **kwargs):
    ...     return 2 * x_shape[0]
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = cubes(torch.ones(5))
    >>> counter.get_total_flops()
    10
    """

    def register(formula: Callable[..., Any]) -> Callable[..., Any]:
        counting = formula if get_raw else shape_wrapper(formula)
        if get_raw:
            formula._get_raw = True  # type: ignore[attr-defined]
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    f"torch.ops.mylib.foo), JitFunction, or HigherOrderOperator, got {target} which is of type "
                    f"{type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = counting
        return formula

    return register


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """A product of matrices."""
    rows, inner = a_shape
    return rows * b_shape[1] * 2 * inner


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """A product of matrices added to something."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Products of a batch of matrices."""
    batch, rows, inner = a_shape
    return batch * rows * b_shape[2] * 2 * inner


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Products of a batch of matrices added to something."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: list[int], w_shape: list[int], out_shape: list[int], transposed: bool = False) -> int:
    """Return the operations of a convolution, those of the bias not counted."""
    positions = (x_shape if transposed else out_shape)[2:]
    return math.prod(positions) * math.prod(w_shape) * x_shape[0] * 2


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(
    x_shape: Any,
    w_shape: Any,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """A convolution."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape: Any,
    x_shape: Any,
    w_shape: Any,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    _output_padding: Any,
    _groups: Any,
    output_mask: Sequence[bool],
    out_shape: Any,
    **kwargs: Any,
) -> int:
    """The gradients of a convolution: that of the input is one the other way round, that of the weight one of the batch."""

    def exchanged(shape: Any) -> list[int]:
        return [shape[1], shape[0], *shape[2:]]

    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        slid, over = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(exchanged(slid), exchanged(over), exchanged(out_shape[1]), transposed=False)
    return count


def sdpa_flop_count(query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """Return the operations of attention: scores, and their product with the values."""
    batch, heads, queries, width = query_shape
    keys, out_width = key_shape[-2], value_shape[-1]
    scores = bmm_flop((batch * heads, queries, width), (batch * heads, width, keys))
    return scores + bmm_flop((batch * heads, queries, keys), (batch * heads, keys, out_width))


def sdpa_backward_flop_count(grad_out_shape: Any, query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """Return the operations of attention's gradients, which compute the scores again."""
    batch, heads, queries, width = query_shape
    keys, out_width = key_shape[-2], value_shape[-1]
    many = batch * heads
    scores = bmm_flop((many, queries, width), (many, width, keys))
    of_scores = bmm_flop((many, queries, out_width), (many, out_width, keys))
    of_values = bmm_flop((many, keys, queries), (many, queries, out_width))
    of_queries = bmm_flop((many, queries, keys), (many, keys, width))
    of_keys = bmm_flop((many, width, queries), (many, queries, keys))
    return scores + of_scores + of_values + of_queries + of_keys


suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number: float) -> str:
    """Return the suffix of the largest unit that leaves at least two digits before the point."""
    index = max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))
    return suffixes[index]


def convert_num_with_suffix(number: float, suffix: str) -> str:
    """Return a number in the unit that `suffix` names, with three decimals."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: float, denom: float) -> str:
    """Return a share in percent, "0%" of nothing."""
    return "0%" if denom == 0 else f"{num / denom:.2%}"


class _FlopCounterMode(TorchDispatchMode):
    """What hands the operators of a block to a counter."""

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        return self.counter._count_flops(func.overloadpacket, func(*args, **kwargs), args, kwargs)


class FlopCounterMode:
    """Counts the operations of a block, by module and by operator.

    Args:
        mods: not needed any more; passing it warns.
        depth: how many levels of modules the printed table has.
        display: print the table at the end of the block (needs the package ``tabulate``).
        custom_mapping: operators and the functions that count them, besides those that are known.

    >>> from torch.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = torch.ones(2, 3) @ torch.ones(3, 4)
    >>> counter.get_total_flops()
    48
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode: _FlopCounterMode | None = None
        custom = custom_mapping or {}
        self.flop_registry = {
            **flop_registry,
            **{op: fn if getattr(fn, "_get_raw", False) else shape_wrapper(fn) for op, fn in custom.items()},
        }
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """Return the count of everything."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the counts: module name to operator to count; "Global" has all."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return the counts as a table down to `depth` levels of modules."""
        tabulate = _load("tabulate")  # an optional library
        tabulate.PRESERVE_WHITESPACE = True
        depth = 999999 if depth is None else depth
        total = self.get_total_flops()
        suffix = get_suffix_str(total)
        covered = False

        def rows_of(name: str, level: int) -> list[list[str]]:
            nonlocal covered
            counts = self.flop_counts[name]
            whole = sum(counts.values())
            covered |= whole >= total
            pad = " " * level
            rows = [[pad + name, convert_num_with_suffix(whole, suffix), convert_to_percent_str(whole, total)]]
            for operator, count in counts.items():
                rows.append(
                    [
                        f"{pad} - {operator}",
                        convert_num_with_suffix(count, suffix),
                        convert_to_percent_str(count, total),
                    ]
                )
            return rows

        rows: list[list[str]] = []
        for name in sorted(self.flop_counts):
            level = name.count(".") + 1
            if name != "Global" and level <= depth:
                rows.extend(rows_of(name, level - 1))
        if "Global" in self.flop_counts and not covered:
            rows = [*rows_of("Global", 0), *([" " + row[0], *row[1:]] for row in rows)]
        rows = rows or [["Global", "0", "0%"]]
        return tabulate.tabulate(rows, headers=["Module", "FLOP", "% Total"], colalign=("left", "right", "right"))

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _FlopCounterMode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *args: Any) -> None:
        if self.mode is None:
            raise AssertionError("Internal error: FlopCounter.__exit__ called but mode is None")
        self.mode.__exit__(*args)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(self, func_packet: Any, out: Any, args: Any, kwargs: Any) -> Any:
        counting = self.flop_registry.get(func_packet)
        if counting is not None:
            count = counting(*args, **kwargs, out_val=out)
            for name in set(self.mod_tracker.parents):
                self.flop_counts[name][func_packet] += count
        return out


adopt(globals())
