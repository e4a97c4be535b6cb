"""The tensor and storage types of old: classes that can be named, nothing is an instance of them, none can be made."""

from typing import Any, NoReturn

from mindtorch.cuda._lazy import refuse
from mindtorch_storage.storage.elements import LEGACY_TYPES

_TENSORS = ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")
_STORAGES = (*_TENSORS, "ComplexDouble", "ComplexFloat")


class _CudaLegacyStorage:
    """Base of the storage types."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        refuse()

    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Make a storage from a buffer, which only storages on the CPU can."""
        raise RuntimeError("from_buffer: Not available for CUDA storage")

    @classmethod
    def _new_with_weak_ptr(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("_new_with_weak_ptr: Not available for CUDA storage")

    @classmethod
    def _new_shared_filename(cls, manager: Any, obj: Any, size: int, **kwargs: Any) -> NoReturn:
        raise RuntimeError("_new_shared_filename: Not available for CUDA storage")


def _tensor_type(name: str) -> type:
    def refuse_type(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")

    shown = "Traceback (most recent call last):\n    ...\nTypeError: type torch.cuda.{0} not available. {1}"
    example = f">>> torch.cuda.{name}(2)\n{shown.format(name, 'Torch not compiled with CUDA enabled.')}"
    kept = {"__new__": refuse_type, "__module__": "torch.cuda", "__doc__": f"A tensor type of old.\n\n{example}"}
    return type(name, (), {**kept, "is_cuda": True, "is_sparse": False, "is_xpu": False})


TYPES: dict[str, type] = {f"{name}Tensor": _tensor_type(f"{name}Tensor") for name in _TENSORS}
TYPES |= {
    f"{name}Storage": type(
        f"{name}Storage",
        (_CudaLegacyStorage,),
        {
            "__module__": "torch.cuda",
            "__doc__": f"A storage type of old.\n\n>>> torch.cuda.{name}Storage.dtype\n{LEGACY_TYPES[f'{name}Storage']}",
            "dtype": LEGACY_TYPES[f"{name}Storage"],
        },
    )
    for name in _STORAGES
}

SPARSE_TYPES: dict[str, type] = {
    name: type(
        name,
        (),
        {
            **{
                key: value
                for key, value in vars(TYPES[name]).items()
                if key in ("__new__", "is_cuda", "is_xpu", "__doc__")
            },
            "__module__": "torch.cuda.sparse",
            "is_sparse": True,
        },
    )
    for name in (f"{kind}Tensor" for kind in _TENSORS if kind != "Bool")
}
"""Coordinate tensors' types of old, which can be named alone too."""
