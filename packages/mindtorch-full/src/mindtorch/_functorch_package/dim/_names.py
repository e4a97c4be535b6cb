"""`dims` and `dimlists`: dimensions named after the variables that the call is assigned to."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from ...func._rearrange import DimensionBindError
from ._tensor import Dim, _Tensor

_SIZED_BY_TARGETS = "must be assigned to a sequence of variable names or have argument n specified"


def dims(n: int | None = None, sizes: Sequence[int | None] | None = None) -> Any:
    """Return new dimensions, as many as variables are assigned: one alone, or a tuple.

    Args:
        n: how many, where the call is not assigned to names.
        sizes: a size for each, None for one that a tensor gives it.

    >>> from functorch.dim import dims
    >>> batch, channel = dims(sizes=[8, None])
    >>> batch, batch.size, channel.is_bound
    (batch, 8, False)

    Raises SyntaxError without `n` and without names, ValueError where `sizes` are more or fewer.
    """
    return _made("dims()", inspect.currentframe(), n, sizes, lambda name, size: Dim(name, -1 if size is None else size))


def dimlists(n: int | None = None, sizes: Sequence[Any] | None = None) -> Any:
    """Return new lists of dimensions, as many as variables are assigned; `sizes` has a length or sizes for each.

    >>> from functorch.dim import dimlists
    >>> batch, = dimlists(1),
    >>> x = torch.ones(2, 3, 4)[batch, ...]
    >>> batch, x.ndim
    ((batch0, batch1, batch2), 0)
    """
    return _made("dimlists()", inspect.currentframe(), n, sizes, _made_list)


class DimList:
    """Dimensions of which the number may be open until the list is first used as an index.

    >>> from functorch.dim import DimList
    >>> spatial = DimList([32, 16], name="spatial")
    >>> spatial, len(spatial), spatial[1].size
    ((spatial0, spatial1), 2, 16)
    """

    def __init__(self, len_or_dims: Any = None, name: str | None = None) -> None:
        self._name = name
        self._dims: list[Dim] = []
        self._bound = False
        if isinstance(len_or_dims, int):
            self.bind_len(len_or_dims)
        elif len_or_dims is not None:
            self._dims = [
                Dim(self._name_of(at), one) if isinstance(one, int) else Dim(one) for at, one in enumerate(len_or_dims)
            ]
            self._bound = True

    def _name_of(self, at: int) -> str:
        return f"{self._name or 'dim'}{at}"

    def bind_len(self, size: int) -> None:
        """Give the list its length; DimensionBindError where it has another one."""
        if not self._bound:
            self._dims = [Dim(self._name_of(at)) for at in range(size)]
            self._bound = True
        elif len(self._dims) != size:
            raise DimensionBindError(f"Dimlist has size {len(self._dims)} but it is being bound to size {size}")

    def bind(self, sizes: Sequence[int]) -> None:
        """Give the list a length and each dimension a size."""
        if not (hasattr(sizes, "__len__") and hasattr(sizes, "__getitem__")):
            raise ValueError("expected a sequence")
        self.bind_len(len(sizes))
        for dim, size in zip(self._dims, sizes, strict=True):
            dim.size = int(size)

    def size(self) -> int:
        """Return the length; DimensionBindError before there is one."""
        if not self._bound:
            raise DimensionBindError("DimList not bound")
        return len(self._dims)

    @property
    def is_bound(self) -> bool:
        """Whether it has a length."""
        return self._bound

    def __len__(self) -> int:
        return self.size()

    def __getitem__(self, key: Any) -> Any:
        count = self.size()
        if isinstance(key, slice):
            return tuple(self._dims[key])
        if not isinstance(key, int):
            raise ValueError("expected an int or a slice")
        if not 0 <= key < count:
            raise IndexError("index out of bounds")
        return self._dims[key]

    def __repr__(self) -> str:
        if self._bound:
            return f"({', '.join(map(repr, self._dims))})"
        return "<unbound_dimlist>" if self._name is None else f"*{self._name}"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _Tensor.__torch_function__(func, types, args, kwargs)


def _made_list(name: str, size: Any) -> DimList:
    made = DimList(name=name)
    if isinstance(size, int):
        made.bind_len(size)
    elif size is not None:
        made.bind_len(len(size))
        for dim, one in zip(made._dims, size, strict=True):
            if one is not None:
                dim.size = one
    return made


def _made(
    call: str,
    frame: FrameType | None,
    n: int | None,
    sizes: Sequence[Any] | None,
    make: Callable[[str, Any], Any],
) -> Any:
    if frame is None or frame.f_back is None:
        raise RuntimeError("Unable to get caller frame")
    names = _targets(frame.f_back)
    wanted = n if n is not None else len(sizes) if sizes is not None else None
    if wanted is None:
        if not names:
            raise SyntaxError(f"{call} {_SIZED_BY_TARGETS}")
        wanted = len(names)
    if sizes is not None and len(sizes) != wanted:
        raise ValueError(f"expected {wanted} sizes but found {len(sizes)}")
    if len(names) != wanted:
        names = [None] * wanted
    # From the first target that is no name (`x.a, y = dims()`), numbers stand for names.
    known = names.index(None) if None in names else wanted
    made = [
        make(name if at < known and name is not None else f"d{at}", None if sizes is None else sizes[at])
        for at, name in enumerate(names)
    ]
    return made[0] if wanted == 1 else tuple(made)


def _targets(frame: FrameType) -> list[str | None]:
    """Return the names that the running call's result is assigned to, None for what is no variable."""
    following = (one for one in dis.get_instructions(frame.f_code) if one.offset > frame.f_lasti)
    first = next((one for one in following if one.opname not in ("CACHE", "PRECALL")), None)
    if first is None:
        return []
    if first.opname != "UNPACK_SEQUENCE":
        return _stored(first)[:1]
    count = first.arg or 0
    found: list[str | None] = []
    for one in following:
        stored = _stored(one)
        if not stored or len(found) >= count:
            break
        found += stored
    found = found[:count]
    return found + [None] * (count - len(found))


def _stored(instruction: dis.Instruction) -> list[str | None]:
    if not instruction.opname.startswith("STORE_"):
        return []
    if instruction.opname in ("STORE_ATTR", "STORE_SUBSCR"):
        return [None]
    names = instruction.argval
    # CPython 3.13 stores two variables at once.
    if isinstance(names, tuple):
        return list(names) if instruction.opname == "STORE_FAST_STORE_FAST" else [names[0]]
    return [names]
