"""Data model of MindTorch: value types, interned geometries, storages, the tensor base class."""

from mindtorch_storage.__about__ import __version__

__all__ = ["__version__"]
