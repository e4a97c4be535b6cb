"""What storages of bytes are by their class."""


class StorageBase:
    """The class of all storages of bytes, for `isinstance`.

    >>> isinstance(torch.ones(2).untyped_storage(), torch.StorageBase)
    True
    """

    __slots__ = ()
    __module__ = "torch._C"
