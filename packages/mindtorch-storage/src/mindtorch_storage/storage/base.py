"""What storages of bytes are by their class."""

from __future__ import annotations

from typing import Any


class StorageBase:
    """The class of all storages of bytes, for `isinstance`, and for classes of storages that programs define.

    >>> isinstance(torch.ones(2).untyped_storage(), torch.StorageBase)
    True
    """

    __slots__ = ("__dict__", "__weakref__")  # programs note things at storages
    __module__ = "torch._C"

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        """Make an object of a class below this one; RuntimeError for this class itself."""
        if cls is StorageBase:
            raise RuntimeError("Cannot directly construct StorageBase; subclass it and then construct that")
        return object.__new__(cls)

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Take what the class was called with."""

    def _fix_weakref(self) -> None:
        """Keep weak references right after an object came back: here an object that is referred to never went."""
