"""Types of named constants: dtypes, layouts, memory formats and quantization schemes."""

from __future__ import annotations

import inspect
from typing import NoReturn, TypeVar

T = TypeVar("T")


def sealed(kind: type[T]) -> type[T]:
    """Make a class as torch's native types of constants are: it makes no instances, is no base, and copies are the object itself.

    No base class does this, because torch's types have none. The module of the class makes instances by `object.__new__`.
    """
    name = f"torch.{kind.__name__}"

    def new(cls: type[T], *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(f"cannot create '{name}' instances")

    def init_subclass(cls: type[T], **kwargs: object) -> NoReturn:
        raise TypeError(f"type '{name}' is not an acceptable base type")

    def set_attribute(self: T, attribute: str, value: object) -> NoReturn:
        raise AttributeError(f"'{name}' object has no attribute '{attribute}'")

    def delete_attribute(self: T, attribute: str) -> None:
        setattr(self, attribute, None)  # refused, with the same text

    def copy(self: T) -> T:
        return self

    def deep_copy(self: T, memo: object) -> T:
        return self

    methods = {
        "__new__": new,
        "__init_subclass__": classmethod(init_subclass),
        "__setattr__": set_attribute,
        "__delattr__": delete_attribute,
        "__copy__": copy,
        "__deepcopy__": deep_copy,
    }
    for method, function in methods.items():
        if method not in vars(kind):  # `dtype` has other texts for some attributes
            setattr(kind, method, function)
    kind.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
    return kind
