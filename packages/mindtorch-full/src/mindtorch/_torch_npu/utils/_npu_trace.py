"""`torch_npu.utils._npu_trace`: functions that are called when streams, events and memory are told something."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mindtorch._torch_npu.utils.utils import _print_error_log
from mindtorch_npu import tracing

__all__ = ["CallbackRegistry"]


class CallbackRegistry:
    """The functions for one kind of thing. One that fails is told of and does not keep the others."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.callback_list: list[tuple[Callable[..., object], str]] = []

    def add_callback(self, cb: Callable[..., object], cb_name: str) -> None:
        """Call `cb` as well, known by a name."""
        self.callback_list.append((cb, cb_name))

    def fire_callbacks(self, *args: Any, **kwargs: Any) -> None:
        """Call them all, the first registered first."""
        for call, name in self.callback_list:
            try:
                call(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - told of; the program goes on without what watches it
                _print_error_log(f"Exception in callback {name} for {self.name} registered with NPU trace: {error}")


def _registry(check: str, what: str) -> CallbackRegistry:
    return CallbackRegistry(f"[{check} check] NPU {what}")


NPUACLStartExecuteCallbacks = _registry("kernel", "acl start execution")
NPUACLFinishExecuteCallbacks = _registry("kernel", "acl finish execution")
NPUEventCreationCallbacks = _registry("stream", "event creation")
NPUEventDeletionCallbacks = _registry("stream", "event deletion")
NPUEventRecordCallbacks = _registry("stream", "event record")
NPUEventWaitCallbacks = _registry("stream", "event wait")
NPUMemoryAllocationCallbacks = _registry("stream", "memory allocation")
NPUMemoryDeallocationCallbacks = _registry("stream", "memory deallocation")
NPUStreamCreationCallbacks = _registry("stream", "stream creation")
NPUDeviceSynchronizationCallbacks = _registry("stream", "device synchronization")
NPUStreamSynchronizationCallbacks = _registry("stream", "stream synchronization")
NPUEventSynchronizationCallbacks = _registry("stream", "event synchronization")
NPURecordStreamCallbacks = _registry("stream", "record_stream")
NPUEraseStreamCallbacks = _registry("stream", "erase_stream")

_REGISTRIES = {
    "acl_start_execution": NPUACLStartExecuteCallbacks,
    "acl_finish_execution": NPUACLFinishExecuteCallbacks,
    "event_creation": NPUEventCreationCallbacks,
    "event_deletion": NPUEventDeletionCallbacks,
    "event_record": NPUEventRecordCallbacks,
    "event_wait": NPUEventWaitCallbacks,
    "memory_allocation": NPUMemoryAllocationCallbacks,
    "memory_deallocation": NPUMemoryDeallocationCallbacks,
    "stream_creation": NPUStreamCreationCallbacks,
    "device_synchronization": NPUDeviceSynchronizationCallbacks,
    "stream_synchronization": NPUStreamSynchronizationCallbacks,
    "event_synchronization": NPUEventSynchronizationCallbacks,
    "record_stream": NPURecordStreamCallbacks,
    "erase_stream": NPUEraseStreamCallbacks,
}
"""By what the runtime calls it."""


def activate() -> None:
    """Call the functions from now on."""
    tracing.listen(lambda name, *numbers: _REGISTRIES[name].fire_callbacks(*numbers))


def print_check_msg(msg: str) -> None:
    """Print a message of a check, with the process."""
    print(f"[sanitizer]({os.getpid()}) {msg}")


def _registering(name: str, registry: CallbackRegistry) -> Callable[[Callable[..., object], str], None]:
    def register(cb: Callable[..., object], cb_name: str) -> None:
        registry.add_callback(cb, cb_name)

    register.__name__ = register.__qualname__ = name
    register.__doc__ = f"Call `cb` at every {registry.name.partition('NPU ')[2]}; `cb_name` names it in messages."
    return register


for _name, _one in _REGISTRIES.items():
    _public = f"register_callback_for_{'' if _name.startswith('acl') else 'npu_'}{_name}"
    globals()[_public] = _registering(_public, _one)
    __all__.append(_public)
