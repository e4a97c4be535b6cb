"""Meta tensors in the likeness of tensors: geometry, dtype and sharing of storages, without data."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._subclasses._metadata import assert_eq as assert_eq
from mindtorch._subclasses._metadata import assert_metadata_eq as assert_metadata_eq
from mindtorch._subclasses._metadata import is_sparse_any as is_sparse_any
from mindtorch._subclasses._metadata import is_sparse_compressed as is_sparse_compressed
from mindtorch._subclasses._metadata import is_sparse_compressed_layout as is_sparse_compressed_layout
from mindtorch._subclasses._metadata import is_sparse_coo as is_sparse_coo
from mindtorch.tensor.tensor import Tensor
from mindtorch_storage.device import device as Device
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import make_tensor

__all__ = ["MetaConverter"]

_META = Device("meta")


class Likenesses:
    """What was made of objects, by identity, for as long as both live."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, original: object) -> bool:
        found = self._known.get(id(original))
        return found is not None and found[0]() is original and found[1]() is not None

    def original_of(self, made: Any) -> Any:
        """Return the object that something was made of, None where that is not known any more."""
        return next((original() for original, likeness in self._known.values() if likeness() is made), None)

    def of(self, original: Any, make: Callable[[], Any]) -> Any:
        """Return what was made of `original`, which is made when there is none yet."""
        key = id(original)
        found = self._known.get(key)
        made = found[1]() if found is not None and found[0]() is original else None
        if made is None:
            made = make()
            entry: Any = None

            def forget(_: Any) -> None:
                if self._known.get(key) is entry:
                    del self._known[key]

            entry = self._known[key] = (weakref.ref(original, forget), weakref.ref(made, forget))
        return made


class MetaConverter:
    """Makes the meta tensor of a tensor, the same one every time; tensors over one storage give tensors over one.

    Args:
        copy_data: keep the values, too; not offered.
    """

    def __init__(self, *, copy_data: bool = False) -> None:
        if copy_data:
            raise NotImplementedError("MetaConverter: copy_data is not offered: meta tensors have no values")
        self.copy_data = copy_data
        self.hit = self.miss = 0
        self.tensor_memo = Likenesses()
        self.storage_memo = Likenesses()

    def original_of(self, storage: Any) -> Any:
        """Return the storage that one without data stands for, None where it is not known any more."""
        return self.storage_memo.original_of(storage)

    def successful(self) -> bool:
        """Return whether something was converted, and nothing refused."""
        return self.hit > 0 and self.miss == 0

    def __call__(
        self,
        t: Any,
        shape_env: Any = None,
        *,
        callback: Any = None,
        source: Any = None,
        symbolic_context: Any = None,
        trace: bool = True,
    ) -> Any:
        """Return the meta tensor of `t`; what is no tensor is returned as it is."""
        if shape_env is not None or callback is not None:
            raise NotImplementedError("MetaConverter: shapes are never symbolic, and there are no callbacks")
        if not isinstance(t, torch.Tensor):
            return t
        made = self.tensor_memo.of(t, lambda: self._make(t))
        self.hit += 1
        return made

    def meta_tensor(self, t: Any, shape_env: Any, callback_: Any, source: Any, symbolic_context: Any) -> Any:
        """Not offered: descriptions of tensors are no tensors. Call the converter."""
        raise NotImplementedError("MetaConverter.meta_tensor: tensors are not described; call the converter")

    def _make(self, tensor: Any) -> Any:
        if tensor.layout is not torch.strided:
            self.miss += 1
            raise NotImplementedError(f"MetaConverter: tensors of layout {tensor.layout} are not offered")
        made = self.element(tensor)
        if tensor.requires_grad:
            made.requires_grad_()
            if not tensor.is_leaf:
                with torch.enable_grad():
                    made = made.clone()
        if tensor.is_leaf and tensor.grad is not None:
            made.grad = self(tensor.grad)
        return made

    def element(self, tensor: Any) -> Any:
        """Return a new meta tensor with the geometry of `tensor`, over the likeness of its storage."""
        spec = tensor._sig.spec
        storage = tensor._materialized_storage()
        likeness = self.storage_memo.of(storage, lambda: UntypedStorage(storage.nbytes(), device="meta"))
        return make_tensor(Tensor, spec.with_(device=_META).plain, None, likeness, tensor._offset, [0])


adopt(globals())
