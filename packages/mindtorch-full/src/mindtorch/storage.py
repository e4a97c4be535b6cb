"""The storage classes under the names that programs and files use."""

import gc
import io
from typing import Any

import mindtorch
from mindtorch_storage import strides
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage, set_relocation_hook
from mindtorch_storage.storage.typed import warn_deprecated as _warn_typed_storage_removal
from mindtorch_storage.tensor_base import TensorBase, array_of_storage

__all__ = ["TypedStorage", "UntypedStorage", "_LegacyStorage", "_warn_typed_storage_removal"]

_LegacyStorage: Any = LEGACY_CLASSES["FloatStorage"].__mro__[1]


def _load_from_bytes(b: bytes) -> Any:
    # What plain pickles of torch's storages call.
    return mindtorch.load(io.BytesIO(b), weights_only=False)


def _follow(storage: UntypedStorage) -> None:
    """Let the tensors over a storage that moved show its new memory.

    They are found through the garbage collector: keeping a list of them would cost every tensor something, for an
    operation that few programs use. A tensor that no longer fits has no elements to show until the storage grows.
    """
    for holder in gc.get_referrers(storage):
        if isinstance(holder, TensorBase) and getattr(holder, "_storage", None) is storage:
            spec, offset = holder._sig.spec, holder._offset
            needed = strides.memory_span(spec.shape, spec.stride, offset) * spec.itemsize
            fits = storage.buffer is not None and needed <= storage.nbytes()
            holder._array = array_of_storage(storage, spec, offset if spec.numel else 0) if fits else None


set_relocation_hook(_follow)
