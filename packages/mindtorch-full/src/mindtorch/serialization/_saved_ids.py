"""What a pickle holds in place of a storage, checked: its element type, its key, where it was and how long it is."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

from mindtorch.serialization._allowed import StorageType
from mindtorch_storage import dtype as types
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage import UntypedStorage

_MOST_ELEMENTS = 1 << 59  # of 16 bytes each, as many as 64 bits can count


class SavedId(NamedTuple):
    """A reference to a storage: the values of the persistent id, and the `view` that the older format adds."""

    dtype: Dtype
    key: str | int
    location: str
    numel: int
    view: tuple[str | int, int, int] | None


def _decoded(part: Any) -> Any:
    # Files of Python 2 hold byte strings where ours hold text.
    return part.decode("ascii") if isinstance(part, bytes) else part


def _is_key(value: Any) -> bool:
    return type(value) is str or type(value) is int


def storage_id(saved_id: Any, length: int) -> SavedId:
    """Return the parts of a persistent id of `length` values; UnpicklingError when it does not describe a storage."""
    if not isinstance(saved_id, tuple) or len(saved_id) != length:
        raise pickle.UnpicklingError(f"a storage is described by {length} values, got {type(saved_id).__name__}")
    _, kind, key, location, count, *view = map(_decoded, saved_id)
    well = (kind is UntypedStorage or type(kind) is StorageType) and _is_key(key) and type(location) is str
    if not well or type(count) is not int:
        raise pickle.UnpicklingError(
            "a storage is described by its class, key, location and size, got "
            + ", ".join(type(part).__name__ for part in (kind, key, location, count))
        )
    if not 0 <= count < _MOST_ELEMENTS:
        raise pickle.UnpicklingError("the size of a storage is negative or more than there can be")
    return SavedId(types.uint8 if kind is UntypedStorage else kind.dtype, key, location, count, _view(*view))


def _view(view: Any = None) -> tuple[str | int, int, int] | None:
    if view is None:
        return None
    if type(view) not in (tuple, list) or len(view) != 3:
        raise pickle.UnpicklingError("a view of a storage is described by its key, offset and size")
    key, offset, count = map(_decoded, view)
    if not _is_key(key) or type(offset) is not int or type(count) is not int or offset < 0 or count < 0:
        raise pickle.UnpicklingError("a view of a storage is described by its key, offset and size")
    return key, offset, count
