"""What tensors answer while a trace runs: sizes as tensors, which are recorded, and warnings where a value leaves the trace.

The members of `Tensor` are replaced for the time of a trace. In threads that trace nothing, and while an operator runs, they
are what they were.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch._tracing_state import recorder
from mindtorch.jit._warnings import TracerWarning
from mindtorch.ops_table import aten
from mindtorch.tensor.tensor import Tensor
from mindtorch_dispatch.arguments import element
from mindtorch_dispatch.arguments.parameter import INT_DTYPES
from mindtorch_storage import dtype as dtypes
from mindtorch_storage import size as size_module
from mindtorch_storage.size import Size

from .recorder import Recorder

_OURS = "mindtorch"
_LOST = (
    " might cause the trace to be incorrect. We can't record the data flow of Python values, so this value will be treated "
    "as a constant in the future. This means that the trace might not generalize to other inputs!"
)
_CONVERSIONS = {
    "__bool__": "Python boolean", "__int__": "Python integer", "__float__": "Python float",
    "__complex__": "Python complex number", "item": "Python number", "tolist": "Python list", "numpy": "NumPy array",
    "__array__": "NumPy array",
}  # fmt: skip
_SILENT = ("__repr__", "__str__", "__format__", "__index__")


def _from_library(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0].startswith(_OURS)


def _original(name: str) -> Any:
    """Return what `Tensor` has, found in its own class or a base of it."""
    return next(vars(owner)[name] for owner in Tensor.__mro__ if name in vars(owner))


def _bound(name: str) -> Callable[..., Any]:
    found = _original(name)
    return lambda self, *args, **kwargs: found.__get__(self, type(self))(*args, **kwargs)


def _converting(name: str, what: str) -> Callable[..., Any]:
    original = _bound(name)

    def convert(self: Any, *args: Any, **kwargs: Any) -> Any:
        active = recorder()
        if active is None:
            return original(self, *args, **kwargs)
        if active.knows(self) and not _from_library(sys._getframe(1)):
            warnings.warn(f"Converting a tensor to a {what}{_LOST}", TracerWarning, stacklevel=2)
        with active.paused():
            return original(self, *args, **kwargs)

    return convert


def _silent(name: str) -> Callable[..., Any]:
    original = _bound(name)

    def show(self: Any, *args: Any) -> Any:
        active = recorder()
        if active is None:
            return original(self, *args)
        with active.paused():
            return original(self, *args)

    return show


def _length() -> Callable[..., Any]:
    original = _bound("__len__")

    def length(self: Any) -> int:
        active = recorder()
        if active is not None and not _from_library(sys._getframe(1)):
            warnings.warn(
                "Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be "
                "tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give incorrect "
                "results.",
                TracerWarning,
                stacklevel=2,
            )
        return int(original(self))

    return length


def _iterating() -> Callable[..., Any]:
    original = _bound("__iter__")

    def iterate(self: Any) -> Any:
        active = recorder()
        if active is not None and self._sig.spec.ndim and not _from_library(sys._getframe(1)):
            warnings.warn(
                "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape won't "
                "change the number of iterations executed (and might lead to errors or silently give incorrect results).",
                TracerWarning,
                stacklevel=2,
            )
        return original(self)

    return iterate


def _subscripting() -> Callable[..., Any]:
    original = _bound("__getitem__")

    def subscript(self: Any, index: Any) -> Any:
        active = recorder()
        return original(self, index) if active is None else original(*_with_slices(self, _read_index(active, index)))

    return subscript


def _with_slices(tensor: Any, index: Any) -> tuple[Any, Any]:
    """Return a tensor and an index of which no slice ends where the tensor does: such ones are taken before.

    Indexing leaves them out, though they shorten what is longer than the example.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    dim = 0
    for place, one in enumerate(parts):
        if isinstance(one, Tensor) and one.dtype is dtypes.bool:
            break
        if one is Ellipsis:
            dim = tensor._sig.spec.ndim - sum(rest is not None for rest in parts[place + 1 :])
            continue
        ends = one.stop if isinstance(one, slice) and dim < tensor._sig.spec.ndim else None
        if type(ends) is int and ends >= tensor._sig.spec.shape[dim]:
            tensor = aten.slice(tensor, dim, one.start, ends, 1 if one.step is None else one.step)
            parts[place] = slice(None)
        dim += one is not None
    return tensor, tuple(parts) if isinstance(index, tuple) else parts[0]


def _read_index(active: Recorder, index: Any) -> Any:
    """Return an index with recorded numbers in place of the sizes in it."""
    if isinstance(index, tuple):
        return tuple(_read_index(active, one) for one in index)
    if isinstance(index, slice):
        return slice(*(_read_index(active, one) for one in (index.start, index.stop, index.step)))
    if isinstance(index, Tensor) and not index._sig.spec.ndim and index.dtype in INT_DTYPES and active.knows(index):
        return active.read(index)
    return index


def _sizes() -> dict[str, Any]:
    shape, size, numel = _original("shape"), _bound("size"), _bound("numel")

    def traced_shape(self: Any) -> Any:
        active = recorder()
        if active is None or not active.knows(self):
            return shape.__get__(self, type(self))
        return tuple.__new__(Size, [active.size(self, dim) for dim in range(self._sig.spec.ndim)])

    def traced_size(self: Any, dim: Any = None) -> Any:
        active = recorder()
        if active is None or not active.knows(self):
            return size(self) if dim is None else size(self, dim)
        if dim is None:
            return traced_shape(self)
        with active.paused():
            size(self, dim)
        return active.size(self, int(dim))

    def traced_count(self: Any) -> Any:
        active = recorder()
        return numel(self) if active is None or not active.knows(self) else active.size(self, None)

    def data(self: Any) -> Any:
        active = recorder()
        return self.detach() if active is not None else held.__get__(self, type(self))

    def set_data(self: Any, value: Any) -> None:
        held.__set__(self, value)

    held = _original("data")
    return {
        "shape": property(traced_shape), "size": traced_size, "numel": traced_count, "nelement": traced_count,
        "data": property(data, set_data),
    }  # fmt: skip


def _members() -> dict[str, Any]:
    made: dict[str, Any] = {name: _converting(name, what) for name, what in _CONVERSIONS.items()}
    made.update({name: _silent(name) for name in _SILENT})
    made.update(_sizes(), __len__=_length(), __iter__=_iterating(), __getitem__=_subscripting())
    for name, one in made.items():
        if not isinstance(one, property):
            functools.update_wrapper(one, getattr(Tensor, name))
    return made


_lock = threading.Lock()
_saved: dict[str, Any] = {}
_open = 0
_NONE = object()


def _is_followed(item: Any) -> bool:
    active = recorder()
    return active is not None and isinstance(item, Tensor) and not item._sig.spec.ndim and active.knows(item)


def _read_number(tensor: Any) -> Any:
    active = recorder()
    return tensor.item() if active is None else active.read(tensor)


@contextlib.contextmanager
def replaced() -> Iterator[None]:
    """In the block, tensors answer the recorder of their thread."""
    global _open
    with _lock:
        if not _open:
            for name, one in _members().items():
                _saved[name] = vars(Tensor).get(name, _NONE)
                setattr(Tensor, name, one)
            element.reader = _read_number
            size_module.followed = _is_followed
        _open += 1
    try:
        yield
    finally:
        with _lock:
            _open -= 1
            if not _open:
                element.reader = size_module.followed = None
                for name, one in _saved.items():
                    if one is _NONE:
                        delattr(Tensor, name)
                    else:
                        setattr(Tensor, name, one)
                _saved.clear()
