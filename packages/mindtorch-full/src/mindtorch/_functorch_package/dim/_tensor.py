"""Tensors some of whose dimensions are objects: what they hold, and how calls of torch's functions meet them.

A call of a function that computes element by element matches the dimensions of its arguments and computes once. Every other
call runs as below `torch.vmap`, in one batch for each first-class dimension of its arguments, so functions see the
positions only.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from mindtorch_dispatch.batching import open_level, unwrapped, wrapped
from mindtorch_dispatch.call import aten

from ... import Tag
from ...func._rearrange import DimensionBindError
from ...tensor.tensor import Tensor as TorchTensor
from ...utils._pytree import tree_flatten, tree_map, tree_unflatten
from ._levels import Level, bound_dims, find, joined, matched, position_count, positions

_numbers = itertools.count()

HANDLERS: dict[Any, Callable[..., Any]] = {}
"""By function of torch: what computes it where a first-class dimension may be an argument of it."""


class Parts(NamedTuple):
    """A value, its levels, and whether it was a tensor: the range of a dimension goes to the device of the others."""

    value: Any
    levels: list[Level]
    placed: bool


def parts_of(value: Any) -> Parts | None:
    """Return the parts of a tensor or dimension, None for what is neither."""
    if isinstance(value, _Tensor):
        return Parts(value._get_tensor(), value._get_levels(), value._get_has_device())
    if isinstance(value, TorchTensor):
        return Parts(value, positions(value.dim()), True)
    return None


def known_parts(value: Any) -> Parts:
    """Return the parts of a tensor or dimension; ValueError for what is neither."""
    parts = parts_of(value)
    if parts is None:
        raise ValueError("expected a tensor object")
    return parts


def with_levels(result: Any, levels: Sequence[Level], placed: bool) -> Any:
    """Return a function's result with these levels on each of its tensors."""
    return tree_map(
        lambda one: Tensor.from_positional(one, levels, placed) if isinstance(one, TorchTensor) else one, result
    )


class _Tensor:
    """What dimensions and tensors with dimensions share: the methods of `torch.Tensor`."""

    def _get_levels(self) -> list[Level]:
        raise NotImplementedError

    def _get_tensor(self) -> Any:
        raise NotImplementedError

    def _get_has_device(self) -> bool:
        raise NotImplementedError

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The first-class dimensions."""
        return tuple(bound_dims(self._get_levels()))

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        handler = HANDLERS.get(func)
        if handler is not None:
            return handler(*args, **(kwargs or {}))
        return call_matched(func, args, kwargs or {})

    def __repr__(self) -> str:
        levels = self._get_levels()
        count = position_count(levels)
        shown = tuple(one + count if isinstance(one, int) else one for one in levels)
        value = self._get_tensor()
        return f"{value}\nwith dims={shown} sizes={tuple(value.shape)}"


class Dim(_Tensor):
    """A dimension as an object: it takes the size of the first dimension that it is bound to, and counts along it.

    >>> from functorch.dim import dims
    >>> i, j = dims()
    >>> (torch.ones(2, 3)[i, j] * j).sum(j).order(i)
    tensor([3., 3.])
    """

    def __init__(self, name: str, s: int = -1) -> None:
        self._name = name
        self._size = s
        self._level = next(_numbers)
        self._range: Any = None

    @property
    def ndim(self) -> int:
        """1, as a dimension is a range of numbers."""
        return 1

    @property
    def size(self) -> int:
        """The size it is bound to; ValueError before that, DimensionBindError for another one."""
        if self._size == -1:
            raise ValueError(f"dimension {self._name} is unbound")
        return self._size

    @size.setter
    def size(self, value: int) -> None:
        if self._size not in (-1, value):
            raise DimensionBindError(
                f"Dim '{self!r}' previously bound to a dimension of size {self._size} "
                f"cannot bind to a dimension of size {value}"
            )
        self._size = value

    @property
    def is_bound(self) -> bool:
        """Whether it has a size."""
        return self._size != -1

    def _get_levels(self) -> list[Level]:
        return [self]

    def _get_tensor(self) -> Any:
        if self._range is None:
            self._range = aten.arange(self.size)
        return self._range

    def _get_has_device(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self._name

    __hash__ = object.__hash__
    __format__ = object.__format__


class Tensor(_Tensor):
    """A tensor some of whose dimensions are first-class ones; `order` makes them positions again.

    >>> from functorch.dim import dims
    >>> i, j = dims()
    >>> x = torch.arange(6).reshape(2, 3)[i, j]
    >>> x.dims, x.ndim
    ((i, j), 0)
    >>> x.order(j, i)
    tensor([[0, 3],
            [1, 4],
            [2, 5]])
    """

    _value: Any
    _levels: list[Level]
    _placed: bool

    @classmethod
    def from_positional(cls, tensor: Any, levels: Sequence[Level], has_device: bool) -> Any:
        """Return the tensor with levels; the tensor itself where none of them is a first-class dimension."""
        if not bound_dims(levels):
            return tensor
        made = cls()
        made._value, made._levels, made._placed = tensor, list(levels), has_device
        return made

    @property
    def ndim(self) -> int:
        """How many positions it has."""
        return position_count(self._levels)

    def _get_levels(self) -> list[Level]:
        return self._levels

    def _get_tensor(self) -> Any:
        return self._value

    def _get_has_device(self) -> bool:
        return self._placed

    __hash__ = object.__hash__


def call_matched(func: Any, args: Any, kwargs: Any) -> Any:
    """Call a function of torch: once where it works element by element, else in a batch for each dimension."""
    leaves, structure = tree_flatten((args, kwargs))
    known = [parts_of(one) for one in leaves]
    found = [one for one in known if one is not None]
    home = next((one.value.device for one in found if one.placed), None)
    known = [
        one if one is None or one.placed or home is None else one._replace(value=one.value.to(home)) for one in known
    ]
    run = _call_elementwise if _is_elementwise(func) else _call_batched
    return run(func, leaves, known, structure, home is not None)


def _call_elementwise(func: Any, leaves: list[Any], known: list[Parts | None], structure: Any, placed: bool) -> Any:
    levels = joined(one.levels for one in known if one is not None)
    given = [
        leaf if one is None else matched(one.value, one.levels, levels) for leaf, one in zip(leaves, known, strict=True)
    ]
    positional, named = tree_unflatten(given, structure)
    result = func(*positional, **named)
    return with_levels(result, levels, placed)


def _call_batched(func: Any, leaves: list[Any], known: list[Parts | None], structure: Any, placed: bool) -> Any:
    dims = sorted(bound_dims(joined(one.levels for one in known if one is not None)), key=lambda one: one._level)
    with ExitStack() as stack:
        opened = [(dim, stack.enter_context(open_level(dim.size, "different")).level) for dim in dims]
        given = [leaf if one is None else _enter(one, opened) for leaf, one in zip(leaves, known, strict=True)]
        positional, named = tree_unflatten(given, structure)
        result = func(*positional, **named)
        return tree_map(lambda one: _leave(one, opened, placed) if isinstance(one, TorchTensor) else one, result)


def _enter(parts: Parts, opened: list[tuple[Dim, int]]) -> Any:
    value, rest = parts.value, list(parts.levels)
    for dim, level in opened:
        place = find(rest, dim)
        if place is not None:
            value = wrapped(value, place, level)
            del rest[place]
    return value


def _leave(value: Any, opened: list[tuple[Dim, int]], placed: bool) -> Any:
    levels = positions(value.dim())
    for dim, level in reversed(opened):
        value, place = unwrapped(value, level)
        if place is not None:
            levels.insert(place, dim)
    return Tensor.from_positional(value, levels, placed)


@functools.lru_cache(1024)
def _is_elementwise(func: Any) -> bool:
    name = getattr(func, "__name__", "")
    name = name.strip("_")
    plain = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or"}
    plain |= {
        "xor": "bitwise_xor",
        "invert": "bitwise_not",
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
    }
    operator = plain.get(name.removeprefix("r") if name.startswith("r") and name[1:] in plain else name, name)
    packet = getattr(aten, operator, None)
    if packet is None and operator[:1] in "ri":
        packet = getattr(aten, plain.get(operator[1:], operator[1:]), None)
    if packet is None:
        return False
    return all(Tag.pointwise in getattr(packet, one).tags for one in packet.overloads() if "out" not in one)
