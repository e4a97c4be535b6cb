"""What every backend of a group has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any


class Backend:
    """What carries out collectives for one type of device."""

    supports_splitting = False
    supports_coalescing = False
    supports_time_estimate = False
    supports_shrinking = False

    class Options:
        """What a backend is told when it is made."""

        def __init__(self, backend: str, timeout: timedelta = timedelta(minutes=30)) -> None:
            self.backend, self._timeout = backend, timeout
            self.global_ranks_in_group: list[int] = []
            self.group_name = ""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self._sequence = 0

    def rank(self) -> int:
        """This process's rank in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes the group has."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return self._get_backend_name()

    def _get_backend_name(self) -> str:
        raise NotImplementedError("getBackendName is not implemented.")

    def _set_sequence_number_for_group(self) -> None:
        self._sequence = 0

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def set_timeout(self, timeout: timedelta) -> None:
        """Backends without a time of their own ignore it."""

    def abort(self) -> None:
        """End what goes on."""

    def shutdown(self) -> None:
        """End."""

    def expect_messages(self, peers: Sequence[int]) -> None:
        """Get ready for messages to and from these ranks: most backends are."""

    def supports_tensor_alloc(self, device: Any) -> bool:
        """Return whether tensors can be made in memory of the backend's own: False."""
        return False

    @property
    def mem_allocator(self) -> Any:
        """Memory of the backend's own, which there is not."""
        raise RuntimeError(f"Backend {self.name()} does not support getMemAllocator")

    def __getattr__(self, name: str) -> Any:
        if name in _COLLECTIVES:
            raise RuntimeError(f"Backend {self._get_backend_name()} does not support {name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_COLLECTIVES = frozenset(
    "broadcast allreduce allreduce_coalesced reduce allgather _allgather_base allgather_coalesced gather scatter "
    "reduce_scatter _reduce_scatter_base alltoall_base alltoall send recv recv_anysource barrier monitored_barrier "
    "allgather_into_tensor_coalesced reduce_scatter_tensor_coalesced".split()
)
