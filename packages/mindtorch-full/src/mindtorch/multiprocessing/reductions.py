"""How tensors and storages travel between processes: their memory is shared, only a reference is sent.

The functions named in messages keep the module they are importable from, so that a child that has no `torch` finds
them.
"""

from __future__ import annotations

import os
import threading
import weakref
from multiprocessing import reduction
from typing import Any

import mindtorch
from mindtorch._naming import missing_attribute
from mindtorch.tensor.pickling import meta_tensor, tensor_over
from mindtorch.utils.hooks import warn_if_has_hooks
from mindtorch_storage.deferred import settle
from mindtorch_storage.forking import renew_after_fork
from mindtorch_storage.layout import strided
from mindtorch_storage.quantized import QuantizedSpec
from mindtorch_storage.references import is_unshared
from mindtorch_storage.storage import TypedStorage, UntypedStorage, sharing
from mindtorch_storage.tensor_base import TensorBase, array_of_storage

NON_LEAF = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
    "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
    "(e.g., putting it on the queue)."
)


class StorageWeakRef:
    """A reference that does not keep a storage alive."""

    __slots__ = ("_reference", "cdata")

    def __init__(self, storage: UntypedStorage | TypedStorage) -> None:
        untyped = storage.untyped()
        self.cdata = untyped._cdata
        self._reference = weakref.ref(untyped)

    def expired(self) -> bool:
        """Whether the storage is gone."""
        return self._reference() is None

    def storage(self) -> UntypedStorage | None:
        """The storage, None when it is gone."""
        return self._reference()

    def __hash__(self) -> int:
        return self.cdata

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, StorageWeakRef) and self.cdata == other.cdata)


class SharedCache(dict[Any, StorageWeakRef]):
    """Shared memory by its identity, so that one block that arrives twice is one storage."""

    def __init__(self) -> None:
        self.limit = 128
        self._after_fork()
        renew_after_fork(self._after_fork)

    def _after_fork(self) -> None:
        self.lock = threading.Lock()

    def get(self, key: Any, default: Any = None) -> Any:
        """The reference under a key."""
        with self.lock:
            return dict.get(self, key, default)

    def __setitem__(self, key: Any, reference: StorageWeakRef) -> None:
        with self.lock:
            dict.__setitem__(self, key, reference)
            if len(self) > self.limit:
                self.free_dead_references()

    def free_dead_references(self) -> None:
        """Forget storages that are gone."""
        for key, reference in list(self.items()):
            if reference.expired():
                del self[key]
        self.limit = max(128, 2 * len(self))


shared_cache = SharedCache()


def fd_id(fd: int) -> tuple[int, int]:
    """What identifies the file behind a descriptor."""
    stat = os.fstat(fd)
    return stat.st_ino, stat.st_dev


def storage_from_cache(cls: Any, key: Any) -> UntypedStorage | None:
    """The living storage under a key, None without one."""
    reference = shared_cache.get(key)
    return None if reference is None else reference.storage()


def rebuild_storage_fd(descriptor: Any, nbytes: int) -> UntypedStorage:
    """The storage behind a descriptor that came with a message."""
    received = descriptor.detach()
    try:
        return storage_of_descriptor(received, nbytes)
    finally:
        os.close(received)


def storage_of_descriptor(descriptor: int, nbytes: int) -> UntypedStorage:
    """The storage over the file of a descriptor: the one of this process when it has one."""
    key = fd_id(descriptor)
    storage = storage_from_cache(UntypedStorage, key)
    if storage is None:
        storage = UntypedStorage._new_shared_fd_cpu(descriptor, nbytes)
        shared_cache[key] = StorageWeakRef(storage)
    return storage


def rebuild_storage_filename(manager: bytes, handle: bytes, nbytes: int) -> UntypedStorage:
    """The storage over a named file."""
    storage = storage_from_cache(UntypedStorage, handle)
    if storage is None:
        storage = UntypedStorage._new_shared_filename_cpu(manager, handle, nbytes)
        shared_cache[handle] = StorageWeakRef(storage)
    storage._shared_decref()
    return storage


def rebuild_storage_empty() -> UntypedStorage:
    """A storage of no bytes."""
    return UntypedStorage(0)


def rebuild_typed_storage(storage: UntypedStorage, dtype: Any) -> TypedStorage:
    """A typed storage over the memory that came."""
    return TypedStorage._over(storage, dtype)


def reduce_typed_storage(storage: TypedStorage) -> tuple[Any, ...]:
    """How a typed storage is sent."""
    return rebuild_typed_storage, (storage.untyped(), storage.dtype)


def reduce_storage(storage: UntypedStorage) -> tuple[Any, ...]:
    """How a storage is sent: moved to shared memory and named."""
    if storage.device.type != "cpu":
        raise RuntimeError(
            f"Cannot pickle {storage.device.type} storage; try pickling a {storage.device.type} tensor instead"
        )
    if sharing.Strategy.current == sharing.FILE_SYSTEM:
        manager, handle, nbytes = storage._share_filename_cpu_()
        shared_cache[handle] = StorageWeakRef(storage)
        storage._shared_incref()
        return rebuild_storage_filename, (manager, handle, nbytes)
    if storage.nbytes() == 0:
        return rebuild_storage_empty, ()
    descriptor, nbytes = storage._share_fd_cpu_()
    shared_cache[fd_id(descriptor)] = StorageWeakRef(storage)
    return rebuild_storage_fd, (reduction.DupFd(descriptor), nbytes)


def share_memory_of(tensor: TensorBase) -> UntypedStorage:
    """The storage of a CPU tensor, moved to shared memory of the current strategy."""
    settle()
    storage: Any = tensor._materialized_storage()
    if not is_unshared(tensor, "_storage", 2) or storage.is_shared():
        move = (
            storage._share_filename_cpu_ if sharing.Strategy.current == sharing.FILE_SYSTEM else storage._share_fd_cpu_
        )
        move()
        return storage  # type: ignore[no-any-return]
    # No other tensor lies over it, so that nobody needs to be looked for to follow the move.
    block = sharing.new_shared(storage.nbytes())
    block.buffer[:] = storage.buffer
    storage._adopt(block)
    spec = tensor._sig.spec
    tensor._array = array_of_storage(storage, spec, tensor._offset if spec.numel else 0)
    return storage  # type: ignore[no-any-return]


def rebuild_tensor(kind: str, storage: UntypedStorage, dtype: Any, metadata: tuple[Any, ...]) -> Any:
    """The tensor over memory that came; `kind` is "tensor" or "parameter"."""
    offset, size, stride, requires_grad = metadata
    if kind == "parameter":
        return mindtorch.nn.Parameter(tensor_over(storage, dtype, offset, size, stride), requires_grad)
    return tensor_over(storage, dtype, offset, size, stride, requires_grad)


def rebuild_meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A tensor without data."""
    return meta_tensor(dtype, size, stride, requires_grad)


def reduce_tensor(tensor: Any) -> tuple[Any, ...]:
    """How a tensor is sent; RuntimeError for one with a history."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(NON_LEAF)
    warn_if_has_hooks(tensor)
    spec = tensor._sig.spec
    if spec.device.type == "meta":
        return rebuild_meta_tensor, (spec.dtype, tuple(spec.shape), spec.stride, tensor.requires_grad)
    if spec.device.type != "cpu" or spec.layout is not strided or type(spec) is QuantizedSpec:
        # Device memory belongs to its process: a copy. The parts of a sparse tensor are tensors, which are sent by this.
        return tensor.__reduce_ex__(2)  # type: ignore[no-any-return]
    kind = "tensor" if type(tensor) is mindtorch.Tensor else "parameter"
    metadata = (tensor._offset, tuple(spec.shape), spec.stride, tensor.requires_grad)
    return rebuild_tensor, (kind, share_memory_of(tensor), spec.dtype, metadata)


def init_reductions() -> None:
    """Teach Python's pickler of messages about tensors, parameters and storages."""
    register = reduction.ForkingPickler.register
    register(UntypedStorage, reduce_storage)
    register(TypedStorage, reduce_typed_storage)
    register(mindtorch.Tensor, reduce_tensor)
    register(mindtorch.nn.Parameter, reduce_tensor)


__getattr__ = missing_attribute(__name__)
