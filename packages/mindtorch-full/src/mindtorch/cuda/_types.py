"""The tensor and storage types of old: classes that can be named, nothing is an instance of them, none can be made."""

from typing import Any, NoReturn

from mindtorch.cuda._lazy import refuse

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


def _tensor_type(name: str) -> type:
    def refuse_type(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")

    return type(name, (), {"__new__": refuse_type, "__module__": "torch.cuda", "__doc__": "A tensor type of old."})


TYPES: dict[str, type] = {f"{name}Tensor": _tensor_type(f"{name}Tensor") for name in _TENSORS}
TYPES |= {
    f"{name}Storage": type(
        f"{name}Storage", (_CudaLegacyStorage,), {"__module__": "torch.cuda", "__doc__": "A storage type of old."}
    )
    for name in _STORAGES
}
