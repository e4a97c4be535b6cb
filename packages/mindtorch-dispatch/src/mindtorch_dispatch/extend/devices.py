"""What a backend does in one piece where others compose: it registers here, by device type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..interface.native import native_path
from ..state import state
from ..typing import Tensor

attention: dict[str, Callable[..., bool]] = {}
"""Of query, key, value specs and the mask's: whether the device's fused attention takes them. Bool masks are passed on."""

adam_steps: dict[str, Callable[..., None]] = {}
"""One step of Adam on a parameter: `step(param, grad, exp_avg, exp_avg_sq, largest, count, options)`."""

list_kernels: dict[str, Callable[..., bool]] = {}
"""An op over lists in one launch: `run(name, outs, lists, number)` fills `outs`; False where there is no such kernel."""

chains: dict[str, Callable[..., bool]] = {}
"""A chain of pointwise steps in one pass: `run(chain, lists, numbers)` writes the tensors of the lists and notes that, as
`changed` does; False, with nothing done, where one of them is not `plain` or its array is not for that."""

stream_records: dict[str, Callable[[Any, Any], None]] = {}
"""Remember that a stream uses a storage: `record(storage, stream)`."""


_determinism: dict[str, Callable[[bool], None]] = {}
_wanted = {"deterministic": False}


def on_deterministic(device_type: str, tell: Callable[[bool], None]) -> None:
    """Let a backend be told whether its kernels have to give the same bits each time; at once when that is wanted."""
    _determinism[device_type] = tell
    if _wanted["deterministic"]:
        tell(True)


def set_deterministic(mode: bool) -> None:
    """Tell every backend whether its kernels have to give the same bits each time."""
    _wanted["deterministic"] = mode
    for tell in _determinism.values():
        tell(mode)


def plain(tensors: Iterable[Any]) -> bool:
    """Return whether a kernel outside of the table may take these tensors: no mode, wrapper or gradient is concerned."""
    mode = state.mode
    if mode.overriding or mode.include or mode.exclude or mode.forward_ad or mode.profiling:
        return False
    return all(
        not one._pending
        and one._array is not None
        and not (mode.grad and one._sig.requires_grad)
        and (mode.inference or not one._sig.inference)  # which may be written in inference mode alone
        for one in tensors
    )


def changed(tensor: Tensor) -> None:
    """Note that a kernel outside of the table has written a tensor."""
    tensor._counter[0] += 1


def plain_arrays(lists: tuple[list[Any], ...]) -> tuple[list[Any], ...] | None:
    """Return the arrays of lists of tensors, None where one of them is not `plain`."""
    if native_path.plain_arrays is not None:
        return native_path.plain_arrays(lists)
    if not all(plain(tensors) for tensors in lists):
        return None
    return tuple([tensor._array for tensor in tensors] for tensors in lists)


def note_writes(lists: tuple[list[Any], ...], writes: bytes) -> None:
    """Note a write, as `changed` does, to every tensor of each list that `writes` numbers."""
    if native_path.note_writes is not None:
        native_path.note_writes(lists, writes)
        return
    for number in writes:
        for tensor in lists[number]:
            changed(tensor)
