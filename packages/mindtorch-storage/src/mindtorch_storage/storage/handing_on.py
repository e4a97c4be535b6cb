"""What typed storages hand on to the bytes under them, under the names that torch's own code calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import BinaryIO

    from mindtorch_storage.dtype import dtype as Dtype
    from mindtorch_storage.storage.typed import TypedStorage
    from mindtorch_storage.storage.untyped import UntypedStorage


class HandingOn:
    """Private names of typed storages."""

    __slots__ = ()

    @property
    def _dtype(self: TypedStorage) -> Dtype:  # type: ignore[misc]  # a mixin of that class alone
        return self.dtype

    def _is_shared(self: TypedStorage) -> bool:  # type: ignore[misc]  # a mixin of that class alone
        return self._untyped_storage.is_shared()

    def _resize_(self: TypedStorage, size: int) -> None:  # type: ignore[misc]  # a mixin of that class alone
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def _share_memory_(self: TypedStorage) -> TypedStorage:  # type: ignore[misc]  # a mixin of that class alone
        self._untyped_storage.share_memory_()
        return self

    def _getitem(self: TypedStorage, idx: int) -> Any:  # type: ignore[misc]  # a mixin of that class alone
        return self[idx]

    def _setitem(self: TypedStorage, idx: int | slice, value: complex) -> None:  # type: ignore[misc]  # a mixin of that class alone
        self[idx] = value

    def _deepcopy(self: TypedStorage, memo: dict[Any, Any]) -> TypedStorage:  # type: ignore[misc]  # a mixin of that class alone
        return self.__deepcopy__(memo)

    def _share_fd_cpu_(self: TypedStorage) -> tuple[int, int]:  # type: ignore[misc]  # a mixin of that class alone
        descriptor, nbytes = self._untyped_storage._share_fd_cpu_()
        return descriptor, nbytes // self.dtype.itemsize

    def _share_filename_cpu_(self: TypedStorage) -> tuple[bytes, bytes, int]:  # type: ignore[misc]  # a mixin of that class alone
        manager, handle, nbytes = self._untyped_storage._share_filename_cpu_()
        return manager, handle, nbytes // self.dtype.itemsize

    def _shared_incref(self: TypedStorage) -> UntypedStorage:  # type: ignore[misc]  # a mixin of that class alone
        shared: UntypedStorage = self._untyped_storage._shared_incref()
        return shared

    def _shared_decref(self: TypedStorage) -> UntypedStorage:  # type: ignore[misc]  # a mixin of that class alone
        shared: UntypedStorage = self._untyped_storage._shared_decref()
        return shared

    def _write_file(self: TypedStorage, file: BinaryIO, is_real_file: bool, save_size: bool, element_size: int) -> None:  # type: ignore[misc]  # a mixin of that class alone
        self._untyped_storage._write_file(file, is_real_file, save_size, element_size)

    def _set_from_file(  # type: ignore[misc]  # a mixin of that class alone
        self: TypedStorage, file: BinaryIO, offset: int | None, is_real_file: bool, element_size: int
    ) -> UntypedStorage:
        return self._untyped_storage._set_from_file(file, offset, is_real_file, element_size)
