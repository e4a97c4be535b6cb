"""The storage classes under the names that programs and files use."""

import io
from typing import Any

import mindtorch
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage
from mindtorch_storage.storage.deprecation import always_warns as _get_always_warn_typed_storage_removal  # noqa: F401
from mindtorch_storage.storage.deprecation import forget_warning as _reset_warn_typed_storage_removal  # noqa: F401
from mindtorch_storage.storage.deprecation import set_always_warns as _set_always_warn_typed_storage_removal  # noqa: F401
from mindtorch_storage.storage.deprecation import warn_deprecated as _warn_typed_storage_removal  # noqa: F401
from mindtorch_storage.storage.typed import LEGACY_TYPES

__all__ = ["TypedStorage", "UntypedStorage"]

__named_by_proxy__ = True

_LegacyStorage: Any = LEGACY_CLASSES["FloatStorage"].__mro__[1]


def _dtype_to_storage_type_map() -> dict[Any, str]:
    """Return the names of the classes of storages by the dtype of their elements."""
    return {element: name for name, element in LEGACY_TYPES.items()}


def _storage_type_to_dtype_map() -> dict[str, Any]:
    """Return the dtypes of elements by the names of the classes of storages."""
    return dict(LEGACY_TYPES)


def _load_from_bytes(b: bytes) -> Any:
    # What plain pickles of torch's storages call.
    return mindtorch.load(io.BytesIO(b), weights_only=False)
