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
"""One step of Adam: `step(params, grads, exp_avgs, exp_avg_sqs, largest, counts, options)`, lists of tensors, `largest` None
without amsgrad; the counts of steps, which are on the device too, are advanced."""

list_kernels: dict[str, Callable[..., bool]] = {}
"""An op over lists in one launch: `run(name, outs, lists, number)` fills `outs`; False where there is no such kernel."""

chains: dict[str, Callable[..., bool]] = {}
"""A chain of pointwise steps in one pass: `run(chain, lists, numbers)` writes the tensors of the lists and notes that, as
`changed` does; False, with nothing done, where one of them is not `plain` or its array is not for that."""

in_one_kernel: dict[str, dict[str, Callable[..., bool]]] = {}
"""Of a device type, ops that others compose and it computes in one kernel: whether that takes the operands."""

stream_records: dict[str, Callable[[Any, Any], None]] = {}
"""Remember that a stream uses a storage: `record(storage, stream)`."""


borrowed_memory: dict[str, Callable[[int, int, int], Any]] = {}
"""Return the allocation over memory that somebody else gives back: `borrow(address, nbytes, device)`."""


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


def has_kernel(name: str, *tensors: Any) -> bool:
    """Return whether the device of the first tensor computes op `name` in one kernel where a composition is asked for it.

    Tangents, batches and modes see what ops are composed of.
    """
    takes = in_one_kernel.get(tensors[0]._sig.spec.device.type, {}).get(name)
    mode = state.mode
    if takes is None or mode.overriding or mode.include or mode.forward_ad or any(one._wraps for one in tensors):
        return False
    return takes(*tensors)


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
