"""The parts of the data loader."""

from . import collate, fetch, pin_memory, worker

#: How often, in seconds, a process that waits looks whether its partner still lives.
MP_STATUS_CHECK_INTERVAL = 5.0

__all__ = ["MP_STATUS_CHECK_INTERVAL", "collate", "fetch", "pin_memory", "worker"]
