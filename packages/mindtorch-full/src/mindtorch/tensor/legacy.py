"""`torch.FloatTensor` and its like: type names of old, for annotations, `isinstance` and construction."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.interface.wiring import wired
from mindtorch_storage import dtype as dtypes
from mindtorch_storage.layout import strided
from mindtorch_storage.tensor_base import TensorBase

from . import construction
from .legacy_devices import check_legacy_device


class LegacyTensorType(type):
    """Class of the legacy types: `isinstance(x, torch.LongTensor)` asks for dtype and device."""

    dtype: Any
    layout: Any
    place: str = "cpu"

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> LegacyTensorType:
        if bases:
            base = bases[0]
            raise TypeError(f"type '{base.__module__}.{base.__name__}' is not an acceptable base type")
        return super().__new__(mcs, name, bases, namespace)

    def __getattr__(cls, name: str) -> Any:
        """Return a method of tensors, of which `torch.FloatTensor.abs` is another name."""
        if name.startswith("__") or not hasattr(wired.tensor_class, name):
            raise AttributeError(f"type object '{cls.__module__}.{cls.__name__}' has no attribute '{name}'")
        return getattr(wired.tensor_class, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, TensorBase)
            and instance.dtype is cls.dtype
            and instance.layout is cls.layout
            and instance.device.type == cls.place
        )

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor of the type: of sizes, of data, or empty."""
        made = cls._made(*args, **kwargs)
        return made if cls.place == "cpu" else made.to(cls.place)

    def _made(cls, *args: Any, **kwargs: Any) -> Any:
        check_legacy_device(kwargs.get("device"), args)
        if len(args) == 1 and isinstance(args[0], TensorBase) and args[0].dtype is not cls.dtype:
            raise TypeError(f"expected {cls.__name__} (got {args[0].dtype.type_name})")
        return construction.legacy_new(wired.tensor_class, args, kwargs, cls.dtype)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _declare(name: str, dtype: Any, module: str, place: str) -> type:
    return LegacyTensorType(
        name,
        (),
        {
            "dtype": dtype,
            "layout": strided,
            "place": place,
            "is_sparse": False,
            "is_sparse_csr": False,
            "is_cuda": False,
            "is_xpu": False,
            "__module__": module,
            "__doc__": f"Tensors of {dtype}.\n\n>>> {module}.{name}([1, 0]).dtype\n{dtype}",
        },
    )


_DTYPES = {
    "FloatTensor": dtypes.float32,
    "DoubleTensor": dtypes.float64,
    "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16,
    "ByteTensor": dtypes.uint8,
    "CharTensor": dtypes.int8,
    "ShortTensor": dtypes.int16,
    "IntTensor": dtypes.int32,
    "LongTensor": dtypes.int64,
    "BoolTensor": dtypes.bool,
}


def legacy_types(module: str, place: str) -> dict[str, type]:
    """Return the types by name, for tensors on devices of a type."""
    return {name: _declare(name, dtype, module, place) for name, dtype in _DTYPES.items()}


LEGACY_TYPES = legacy_types("torch", "cpu")
"""Name to type."""
