"""The storage classes under the names that programs and files use."""

import io
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage, set_reduce_hook, set_relocation_hook
from mindtorch_storage.storage.typed import warn_deprecated as _warn_typed_storage_removal

__all__ = ["TypedStorage", "UntypedStorage"]

_LegacyStorage = LEGACY_CLASSES["FloatStorage"].__mro__[1]


def _load_from_bytes(b: bytes) -> Any:
    return mindtorch.load(io.BytesIO(b), weights_only=False)


def _reduce(storage: UntypedStorage) -> tuple[Any, ...]:
    stream = io.BytesIO()
    mindtorch.save(storage, stream, _use_new_zipfile_serialization=False)
    return _load_from_bytes, (stream.getvalue(),)


set_reduce_hook(_reduce)
