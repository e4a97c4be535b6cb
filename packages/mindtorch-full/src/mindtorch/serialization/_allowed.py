"""What a checkpoint may name when it is loaded with `weights_only=True`."""

from __future__ import annotations

from _codecs import encode
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from mindtorch.serialization import _names
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import ALL_DTYPES
from mindtorch_storage.layout import get_layout
from mindtorch_storage.qscheme import QSCHEMES
from mindtorch_storage.size import Size
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage, storage_class_dtype

BLOCKED_MODULES = frozenset(("sys", "os", "posix", "nt"))
"""Modules that nothing is allowed from, not even what the user marked safe."""

_REBUILD_FUNCTIONS = (
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_wrapper_subclass",
    "_rebuild_device_tensor_from_numpy",
    "_rebuild_device_tensor_from_cpu_tensor",
)
_marked_safe: dict[Any, None] = {}


class StorageType:
    """The element type that a storage class in a file stands for.

    >>> storage = torch.serialization.StorageType("FloatStorage")
    >>> storage.dtype
    torch.float32
    """

    __slots__ = ("_dtype",)

    def __init__(self, name: str) -> None:
        dtype = storage_class_dtype(name)
        if dtype is None:
            raise KeyError(name)
        self._dtype = dtype

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


# Looked up when a file first names them, so that loading tensors alone does not import the module system.
_BY_NAME = {
    "torch.nn.parameter.Parameter": ("torch.nn.parameter", "Parameter"),
    "torch.Tensor": ("torch._tensor", "Tensor"),
    "torch._tensor._rebuild_from_type_v2": ("torch._tensor", "_rebuild_from_type_v2"),
    **{f"torch._utils.{name}": ("torch._utils", name) for name in _REBUILD_FUNCTIONS},
}
_KNOWN: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "torch.serialization._get_layout": get_layout,
    "torch.Size": Size,
    "torch.device": Device,
    "_codecs.encode": encode,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
    "torch.storage.TypedStorage": TypedStorage,
    "torch.storage.UntypedStorage": UntypedStorage,
    **{repr(dtype): dtype for dtype in ALL_DTYPES},
    **{repr(scheme): scheme for scheme in QSCHEMES.values()},
    **{f"torch.{name}": StorageType(name) for name in LEGACY_CLASSES},
}
DEFAULT_NAMES = frozenset((*_KNOWN, *_BY_NAME))
"""Names that are always allowed."""


def default_global(full_name: str) -> Any:
    """The object of ours that an always allowed name means; KeyError for other names."""
    found = _KNOWN.get(full_name)
    if found is None:
        found = _KNOWN[full_name] = _names.resolve(*_BY_NAME[full_name])
    return found


def user_globals() -> dict[str, Any]:
    """Names that the user marked safe."""
    allowed: dict[str, Any] = {}
    for item in _marked_safe:
        if isinstance(item, tuple):
            if len(item) != 2:
                raise ValueError(
                    "Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                    f"{len(item)}"
                )
            if type(item[1]) is not str:
                raise TypeError(
                    f"Expected second item in tuple to be str of callable full path, but got: {type(item[1])}"
                )
            allowed[item[1]] = item[0]
        else:
            allowed[f"{item.__module__}.{item.__qualname__}"] = item
    return allowed


def add_safe_globals(safe_globals: list[Callable[..., Any] | tuple[Callable[..., Any], str]]) -> None:
    """Let `weights_only` loads make and call these classes and functions.

    >>> torch.serialization.add_safe_globals([complex])
    >>> complex in torch.serialization.get_safe_globals()
    True
    >>> torch.serialization.clear_safe_globals()
    """
    _marked_safe.update(dict.fromkeys(safe_globals))


def get_safe_globals() -> list[Callable[..., Any] | tuple[Callable[..., Any], str]]:
    """What was marked safe so far.

    >>> torch.serialization.get_safe_globals()
    []
    """
    return list(_marked_safe)


def clear_safe_globals() -> None:
    """Forget everything that was marked safe.

    >>> torch.serialization.clear_safe_globals()
    >>> torch.serialization.get_safe_globals()
    []
    """
    _marked_safe.clear()


class safe_globals:
    """Mark classes and functions safe for the length of a `with` block.

    >>> with torch.serialization.safe_globals([complex]):
    ...     torch.serialization.get_safe_globals()
    [<class 'complex'>]
    """

    def __init__(self, safe_globals: list[Callable[..., Any] | tuple[Callable[..., Any], str]]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exc_info: object) -> None:
        for item in self.safe_globals:
            _marked_safe.pop(item, None)
