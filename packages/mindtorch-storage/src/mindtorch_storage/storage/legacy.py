"""The storage classes named after element types, such as FloatStorage: they make `TypedStorage` objects."""

from __future__ import annotations

import inspect
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage.conversion import Classes
from mindtorch_storage.storage.deprecation import warn_deprecated
from mindtorch_storage.storage.elements import LEGACY_TYPES
from mindtorch_storage.storage.typed import TypedStorage
from mindtorch_storage.storage.untyped import UntypedStorage

_LEGACY_TEXT = (
    "<class 'torch.{name}'>.__new__ received an invalid combination of arguments. Expected one of:\n"
    " * no arguments\n"
    " * (int size)\n"
    " * (Sequence data)\n"
    " * (*, UntypedStorage wrap_storage)\n"
)


class _LegacyMeta(type):
    """`isinstance(storage, FloatStorage)` asks for the element type, whatever class the storage has."""

    _element: Dtype
    _place: str

    @property
    def _dtype(cls) -> Dtype:
        return cls._element

    @property
    def dtype(cls) -> Dtype:
        """The type of the elements."""
        return cls._element

    def __instancecheck__(cls, instance: object) -> bool:
        element = getattr(cls, "_element", None)
        if element is None:
            return isinstance(instance, TypedStorage)
        return type(instance) is TypedStorage and instance.dtype is element and instance.device.type == cls._place


_SIGNATURE = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in {"wrap_storage": None, "dtype": None, "device": None, "_internal": False}.items()
        ),
    ]
)
"""What the classes say they take; dtype and device are refused with their own text."""


class _LegacyStorage(TypedStorage, metaclass=_LegacyMeta):
    """Base of the classes named after element types; they make `TypedStorage` objects."""

    __slots__ = ()
    __module__ = "torch.storage"
    __signature__ = _SIGNATURE

    def __new__(
        cls, *args: Any, wrap_storage: UntypedStorage | None = None, _internal: bool = False, **kwargs: Any
    ) -> Any:
        if not hasattr(cls, "_element"):
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        if not _internal:
            warn_deprecated()
        text = _LEGACY_TEXT.format(name=cls.__name__)
        if len(args) > 1:
            raise RuntimeError(f"{text}Too many positional arguments")
        for name in ("dtype", "device"):
            if kwargs.pop(name, None) is not None:
                raise RuntimeError(f"{text}Keyword argument '{name}' cannot be specified")
        for name in kwargs:
            raise TypeError(f"TypedStorage.__new__() got an unexpected keyword argument '{name}'")
        new = TypedStorage.__new__(TypedStorage)
        new._set_up(args, wrap_storage, cls._element, None if cls._place == "cpu" else cls._place, text)
        return new

    @classmethod
    def _new_with_weak_ptr(cls, pointer: int = 0) -> TypedStorage:
        raise NotImplementedError(
            "_new_with_weak_ptr: storages have no weak pointers that outlive them; use weakref.ref(storage)"
        )

    @classmethod
    def _new_shared_filename(cls, manager: bytes, obj: bytes, size: int) -> TypedStorage:
        nbytes = size * cls._element.itemsize
        return cls._over(UntypedStorage._new_shared_filename_cpu(manager, obj, nbytes), cls._element)

    @classmethod
    def _from_buffer(
        cls, *args: Any, dtype: Dtype | None = None, device: Device | str | None = None, **kwargs: Any
    ) -> TypedStorage:
        for name, value in (("dtype", dtype), ("device", device)):
            if value is not None:
                raise RuntimeError(
                    f"from_buffer: '{name}' can only be specified in UntypedStorage.from_buffer and "
                    "TypedStorage.from_buffer"
                )
        return super()._from_buffer(*args, dtype=cls._element, **kwargs)


def legacy_classes(module: str, place: str) -> dict[str, type]:
    """Return the classes named after element types, for storages on devices of a type."""
    return {
        name: _LegacyMeta(
            name,
            (_LegacyStorage,),
            {
                "__module__": module,
                "__slots__": (),
                "_element": element,
                "_place": place,
                "__doc__": f"Typed storages of {element}.\n\n>>> {module}.{name}([1, 0]).dtype\n{element}",
            },
        )
        for name, element in LEGACY_TYPES.items()
    }


LEGACY_CLASSES: dict[str, type] = legacy_classes("torch", "cpu")
Classes.named.update({f"torch.{name}": kind for name, kind in LEGACY_CLASSES.items()})
Classes.named["torch.storage.UntypedStorage"] = UntypedStorage
