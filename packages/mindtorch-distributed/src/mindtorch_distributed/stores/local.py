"""The store of one process: threads share it."""

from __future__ import annotations

import threading
from typing import Any

from mindtorch_distributed.stores.actions import Contents
from mindtorch_distributed.stores.arguments import checks_arguments
from mindtorch_distributed.stores.base import Store


@checks_arguments
class HashStore(Store):
    """Keys in this process."""

    def __init__(self) -> None:
        super().__init__()
        self._contents, self._lock = Contents(), threading.Lock()

    def change(self, key: str, action: str, *values: bytes) -> Any:
        """See `Store.change`."""
        with self._lock:
            return self._contents.carry_out(key, action, *values)
