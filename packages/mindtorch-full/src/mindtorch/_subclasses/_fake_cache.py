"""What operators gave on fake tensors: a call whose arguments are as those of an earlier one is not described anew."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch._subclasses._fake_dispatch import fake_call
from mindtorch._subclasses._metadata import TensorMetadata, extract_tensor_metadata
from mindtorch.utils._pytree import tree_leaves
from mindtorch_dispatch.defaults import get_default_device
from mindtorch_storage.device import device as Device
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import TensorBase, make_tensor

LIMIT = 4096
"""So many calls are remembered; the oldest one goes first."""

_META = Device("meta")
_VALUES = (
    bool, int, float, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size
)  # fmt: skip
_REASONS = (
    (torch.Tag.data_dependent_output, "data dependent output"),
    (torch.Tag.dynamic_output_shape, "dynamic output shape"),
    (torch.Tag.inplace_view, "inplace view"),
)


@dataclasses.dataclass(frozen=True)
class DispatchCacheInfo:
    """How often calls were found, were not, and could not be remembered, by reason."""

    hits: int
    misses: int
    bypasses: dict[str, int]
    size: int


class _CacheKeyState:
    """What a key is made with; sizes are numbers, so it holds nothing but the environment of symbols, which is None."""

    def __init__(self, shape_env: Any = None) -> None:
        self.shape_env = shape_env


class NotRemembered(Exception):
    """A call that cannot be remembered, with the reason."""


class _Remembered(NamedTuple):
    """The result of a call: an argument, or a new tensor, over the memory of an argument or over its own."""

    argument: int | None
    base: int | None
    sig: Any
    offset: int
    nbytes: int


class _Call(NamedTuple):
    """What a call gave: one result, or several in a list or a tuple."""

    kind: Any
    parts: tuple[_Remembered, ...]


class DispatchCache:
    """The remembered calls of all modes."""

    def __init__(self) -> None:
        self._calls: dict[Any, _Call] = {}
        self.hits = self.misses = 0
        self.bypasses: Counter[str] = Counter()

    def clear(self) -> None:
        """Forget all calls and begin to count anew."""
        self._calls.clear()
        self.hits = self.misses = 0
        self.bypasses.clear()

    def info(self) -> DispatchCacheInfo:
        """Return how often calls were found."""
        return DispatchCacheInfo(self.hits, self.misses, dict(self.bypasses), len(self._calls))

    def call(self, mode: Any, fake_class: type, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return the results of an operator on fakes."""
        leaves = tree_leaves((args, kwargs))
        try:
            key = key_of(mode, fake_class, func, args, kwargs)
        except NotRemembered as reason:
            self.bypasses[str(reason)] += 1
            key = None
        if key is None:
            return fake_call(mode, fake_class, func, args, kwargs)
        found = self._calls.get(key)
        if found is not None:
            self.hits += 1
            parts = [_made(mode, fake_class, one, leaves) for one in found.parts]
            return parts[0] if found.kind is None else found.kind(parts)
        self.misses += 1
        before = [_geometry(leaf) for leaf in leaves]
        result = fake_call(mode, fake_class, func, args, kwargs)
        try:
            kind = type(result) if type(result) in (list, tuple) else None
            parts = [result] if kind is None else result
            entry = _Call(kind, tuple(_remembered(fake_class, one, leaves, before) for one in parts))
        except NotRemembered as reason:
            self.bypasses[str(reason)] += 1
            return result
        if len(self._calls) >= LIMIT:
            del self._calls[next(iter(self._calls))]
        self._calls[key] = entry
        return result


def key_of(mode: Any, fake_class: type, func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the result of a call depends on; raises NotRemembered."""
    if func.namespace not in ("aten", "prims", "prim"):
        raise NotRemembered("non-builtin")
    for tag, reason in _REASONS:
        if tag in func.tags:
            raise NotRemembered(reason)
    key: list[Any] = [func, torch.get_default_dtype(), get_default_device(), torch.is_inference_mode_enabled()]
    _add(key, args, mode, fake_class)
    for name in sorted(kwargs):
        key.append(name)
        _add(key, kwargs[name], mode, fake_class)
    return tuple(key)


def _add(key: list[Any], value: Any, mode: Any, fake_class: Any) -> None:
    """Add what a call depends on in an argument: of tensors their metadata."""
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        key.append((type(value), len(value)))
        for one in value:
            _add(key, one, mode, fake_class)
    elif isinstance(value, fake_class):
        _check(value, mode)
        key.append(extract_tensor_metadata(value))
    elif isinstance(value, _VALUES) and type(value).__module__ != "mindtorch.export._sizes":
        key += (type(value), value)
    else:
        raise NotRemembered(f"unsupported argument: {type(value).__name__}")


def _check(fake: Any, mode: Any) -> None:
    if fake.fake_mode is not mode:
        raise NotRemembered("not our fake")
    if fake.constant is not None:
        raise NotRemembered("constant attribute")
    if fake._varying is not None:
        raise NotRemembered("sizes that vary")
    if fake.layout is not torch.strided:
        raise NotRemembered(f"{fake.layout} tensor")


def _geometry(leaf: Any) -> Any:
    return (leaf._sig.spec, leaf._offset, id(leaf._storage)) if isinstance(leaf, TensorBase) else None


def _remembered(fake_class: type, result: Any, leaves: list[Any], before: list[Any]) -> _Remembered:
    if type(result) is not fake_class:
        raise NotRemembered("non-FakeTensor output")
    if result.constant is not None:
        raise NotRemembered("constant attribute")
    if any(_geometry(leaf) != old for leaf, old in zip(leaves, before, strict=True)):
        raise NotRemembered("metadata of an argument changed")
    if result.layout is not torch.strided or result.is_conj() or result.is_neg():
        raise NotRemembered("dispatch_key_set mismatch")
    storage = result._materialized_storage()
    tensors = [(place, leaf) for place, leaf in enumerate(leaves) if isinstance(leaf, fake_class)]
    shares = [place for place, leaf in tensors if leaf._storage is storage]
    if len(shares) > 1:
        raise NotRemembered("arguments share memory")
    base = shares[0] if shares else None
    argument = base if base is not None and leaves[base] is result else None
    return _Remembered(argument, base, result._sig, result._offset, storage.nbytes())


def _made(mode: Any, fake_class: Any, found: _Remembered, leaves: list[Any]) -> Any:
    if found.argument is not None:
        return leaves[found.argument]
    storage = leaves[found.base]._storage if found.base is not None else UntypedStorage(found.nbytes, device="meta")
    sig = found.sig.requiring(False).on(found.sig.spec.with_(device=_META))
    elem = make_tensor(torch.Tensor, sig, None, storage, found.offset, [0])
    return fake_class(mode, elem, found.sig.spec.device)


__all__ = ["DispatchCache", "DispatchCacheInfo", "TensorMetadata", "key_of"]
