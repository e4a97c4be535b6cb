"""The methods of `torch.Tensor` on tensors with first-class dimensions; where one takes `dim`, it may be such a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...functions.bound import function_of
from ...nn.functional import softmax as torch_softmax
from ...tensor.tensor import Tensor as TorchTensor
from ._arrangement import expand, order
from ._indexing import index
from ._levels import Level, find, level_of, position_count
from ._tensor import HANDLERS, Dim, _Tensor, call_matched, parts_of, with_levels

_REDUCTIONS = (
    "mean sum all amax amin aminmax any count_nonzero logsumexp nanmean nansum prod std var max min argmax argmin kthvalue "
    "median nanmedian mode unbind"
).split()
_ALONG = "sort argsort chunk cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp renorm softmax".split()
_DIM_AT = {"chunk": 2, "renorm": 2}
_KEEPDIM_AT = {"std": 3, "var": 3}
_OWN = ("__dict__", "__new__", "__init__", "__repr__", "__weakref__", "__doc__", "__module__", "__dir__", "__class__")
_OF_CLASSES = ("__init_subclass__", "__subclasshook__", "__class_getitem__", "__slots__", "__annotations__")


def _along(orig: Callable[..., Any], reduces: bool, dim_at: int = 1, keepdim_at: int = 2) -> Callable[..., Any]:
    """Return a function of torch whose argument `dim` may name first-class dimensions."""

    def along(*args: Any, **kwargs: Any) -> Any:
        self, dim = args[0], kwargs.get("dim", args[dim_at] if len(args) > dim_at else None)
        parts = parts_of(self)
        if dim is None or parts is None:
            return call_matched(orig, args, kwargs)
        keepdim = reduces and bool(kwargs.get("keepdim", args[keepdim_at] if len(args) > keepdim_at else False))
        places = _places(dim, parts.levels, keepdim)
        kept = [one for at, one in enumerate(parts.levels) if keepdim or not reduces or at not in places]
        axis = places[0] if len(places) == 1 else tuple(places)
        if "dim" in kwargs:
            result = orig(parts.value, *args[1:], **{**kwargs, "dim": axis})
        else:
            result = orig(parts.value, *args[1:dim_at], axis, *args[dim_at + 1 :], **kwargs)
        return with_levels(result, kept, parts.placed)

    along.__name__ = orig.__name__
    along.__doc__ = orig.__doc__
    return along


def _places(dim: Any, levels: list[Level], keepdim: bool) -> list[int]:
    count = position_count(levels)
    places = []
    for one in dim if isinstance(dim, (tuple, list)) else (dim,):
        if keepdim and isinstance(one, Dim):
            raise ValueError("cannot preserve first-class dimensions with keepdim=True")
        level = level_of(one, count)
        place = find(levels, level)
        if place is None:
            raise ValueError(f"Tensor with dimensions {[str(each) for each in levels]} does not contain {level}")
        places.append(place)
    return places


def _method(orig: Callable[..., Any]) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        return _Tensor.__torch_function__(orig, None, args, kwargs)

    method.__name__ = getattr(orig, "__name__", "method")
    method.__doc__ = orig.__doc__
    return method


def install() -> None:
    """Give `_Tensor` what `torch.Tensor` has, but for what it has itself."""
    found: dict[str, Any] = {}
    for owner in reversed(TorchTensor.__mro__[:-1]):
        found.update(vars(owner))
    for name, one in found.items():
        if name in _OWN or name in _OF_CLASSES or getattr(_Tensor, name, None) is not getattr(object, name, None):
            continue
        if callable(one):
            setattr(_Tensor, name, _method(one))
        elif hasattr(one, "__get__") and not isinstance(one, (staticmethod, classmethod)):
            setattr(_Tensor, name, property(_method(one.__get__)))
    for name in _REDUCTIONS + _ALONG:
        orig = getattr(TorchTensor, name)
        made = _along(orig, name in _REDUCTIONS, _DIM_AT.get(name, 1), _KEEPDIM_AT.get(name, 2))
        setattr(_Tensor, name, made)
    for name, one in {"order": order, "expand": expand, "index": index}.items():
        setattr(_Tensor, name, one)


softmax = _along(torch_softmax, reduces=False)
HANDLERS[function_of("softmax")] = softmax
HANDLERS[TorchTensor.__len__] = lambda self: self.size(0)
install()
