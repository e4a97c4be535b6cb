"""Stores: keys and bytes that processes share, to find each other and to agree."""

from mindtorch_distributed.stores.base import Store
from mindtorch_distributed.stores.file import FileStore
from mindtorch_distributed.stores.local import HashStore
from mindtorch_distributed.stores.prefix import PrefixStore
from mindtorch_distributed.stores.tcp import TCPStore

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]
