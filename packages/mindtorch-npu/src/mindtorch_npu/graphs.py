"""Graphs: what is enqueued to a stream, recorded once and run again at once, with memory that is theirs."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

from mindtorch_npu import graph_options, runtime
from mindtorch_npu.acl.errors import AclError
from mindtorch_npu.acl.recording import MODES, call, function, recorded, recording_of
from mindtorch_npu.allocator import allocator_of
from mindtorch_npu.generator import NpuGenerator, RecordedDraws
from mindtorch_npu.pools import MemPool, next_pool
from mindtorch_npu.stream import Stream, current_stream, default_stream

Pool = tuple[int, int]


def graph_pool_handle() -> Pool:
    """Return the identity of a new memory pool, for graphs that are replayed in the order of their recording.

    >>> len(torch.npu.graph_pool_handle())
    2
    """
    return 0, next_pool()


def is_current_stream_capturing() -> bool:
    """Return whether the thread's current stream is being recorded; initialises nothing.

    >>> torch.npu.is_current_stream_capturing()
    False
    """
    if not recorded:
        return False
    stream = current_stream()
    return stream.npu_stream in recorded or recording_of(stream.npu_stream, runtime.on(stream.device_index)) != 0


class NPUGraph:
    """What a stream was given between `capture_begin` and `capture_end`; `replay` runs it again.

    It reads and writes the memory that it had when it was recorded.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        if keep_graph:
            raise NotImplementedError("torch.npu.NPUGraph: keep_graph is not supported, the runtime keeps no template")
        function("aclmdlRICaptureBegin")
        self._handle = 0
        self.recording_handle = 0
        self.draws: dict[NpuGenerator, RecordedDraws] = {}
        self._pool: Pool | None = None
        self._stream: Stream | None = None

    def capture_begin(
        self, pool: Pool | MemPool | None = None, capture_error_mode: str = "global", check_input_liveness: bool = False
    ) -> None:
        """Record from now on what the current stream is given. RuntimeError for the default stream."""
        if check_input_liveness:
            raise NotImplementedError("torch.npu.NPUGraph: check_input_liveness is not supported")
        if self._handle:
            raise RuntimeError(
                "This NPUGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
        if capture_error_mode not in MODES:
            raise RuntimeError(
                "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got " + capture_error_mode
            )
        stream = current_stream()
        if stream == default_stream(stream.device_index):
            raise RuntimeError(
                "NPU graphs must be captured on a non-default stream. "
                "(However, after capture, it's ok to replay them on the default stream.)"
            )
        wanted = pool.id if isinstance(pool, MemPool) else pool
        self._pool = (next_pool(), 0) if wanted is None else (wanted[0], wanted[1])
        acl, allocator = runtime.on(stream.device_index), allocator_of(stream.device_index)
        allocator.hold_pool(self._pool)
        allocator.begin_pool(self._pool, lambda handle: handle in recorded)
        try:
            call("aclmdlRICaptureBegin", acl, stream.npu_stream, MODES[capture_error_mode])
        except AclError:
            self._leave(stream)
            raise
        self._stream = stream
        self.recording_handle = recording_of(stream.npu_stream, acl)
        recorded[stream.npu_stream] = self

    def capture_end(self) -> None:
        """End the recording. AclError where something was asked for that cannot be recorded."""
        stream = self._stream
        if stream is None or current_stream() != stream:
            raise RuntimeError("Capture must end on the same stream it began on.")
        self._stream = None
        recorded.pop(stream.npu_stream, None)
        made = ctypes.c_void_p()
        acl = runtime.on(stream.device_index)
        allocator_of(stream.device_index).end_pool(self.pool())
        try:
            call("aclmdlRICaptureEnd", acl, stream.npu_stream, ctypes.addressof(made))
        except AclError:
            self.draws.clear()
            allocator_of(stream.device_index).drop_pool(self.pool())
            raise
        self._handle, self._device = made.value or 0, stream.device_index

    def _leave(self, stream: Stream) -> None:
        allocator = allocator_of(stream.device_index)
        allocator.end_pool(self.pool())
        allocator.drop_pool(self.pool())

    def register_generator_state(self, generator: Any) -> None:
        """Let a replay draw from where `generator` is. Those that a recording draws from are known without it."""
        stream = getattr(generator, "device_stream", generator)
        if not isinstance(stream, NpuGenerator):
            raise RuntimeError("Expected a 'npu' device type for generator but found 'cpu'")
        self.draws.setdefault(stream, RecordedDraws(stream))

    def instantiate(self) -> None:
        """Make the graph ready to run; it is when the recording has ended, unless `keep_graph` asked otherwise."""
        raise RuntimeError("instantiate() is intended to be called by the user only when keep_graph=true")

    def replay(self) -> None:
        """Run the graph on the current stream; returns before the device has computed."""
        if not self._handle:
            raise RuntimeError("Called NPUGraph::replay without a preceding successful capture.")
        acl = runtime.on(self._device)
        for draws in self.draws.values():
            draws.begin()
        call("aclmdlRIExecuteAsync", acl, self._handle, current_stream(self._device).npu_stream)

    def reset(self) -> None:
        """Give up what was recorded, and the graph's share of its pool."""
        handle, self._handle = self._handle, 0
        self.draws.clear()
        if handle:
            call("aclmdlRIDestroy", runtime.on(self._device), handle)
            allocator_of(self._device).drop_pool(self.pool())

    def pool(self) -> Pool:
        """Return the identity of the graph's memory pool, to record other graphs with."""
        if self._pool is None:
            raise RuntimeError("Called NPUGraph::pool() without a preceding successful capture.")
        return self._pool

    def enable_debug_mode(self) -> None:
        """Keep what `debug_dump` prints; raises, the runtime keeps nothing."""
        raise NotImplementedError("torch.npu.NPUGraph: the runtime has no description of a graph to keep")

    def debug_dump(self, debug_path: str) -> None:
        """Write the graph to a file; raises, the runtime has no description of it."""
        raise NotImplementedError("torch.npu.NPUGraph: the runtime has no description of a graph to write")

    def get_graph_data(self) -> None:
        """Return the graph's nodes and edges; raises, the runtime has no description of it."""
        raise NotImplementedError("torch.npu.NPUGraph: the runtime has no description of a graph to return")

    def super_kernel_optimize(
        self, optimize_options: dict[str, Any] | None = None, debug_options: dict[str, Any] | None = None
    ) -> None:
        """Join kernels of the graph to one; raises: RuntimeError for wrong options, else the runtime has no function for it."""
        graph_options.check("optimize_options", optimize_options, graph_options.OPTIMIZE)
        graph_options.check("debug_options", debug_options, graph_options.DEBUG)
        raise NotImplementedError("torch.npu.NPUGraph: the runtime has no function that joins the kernels of a graph")

    def raw_npu_graph(self) -> int:
        """Return ACL's handle of the graph, 0 before a recording."""
        return self._handle

    raw_npu_graph_exec = raw_npu_graph

    def __del__(self) -> None:
        if getattr(self, "_handle", 0) and runtime.is_initialized():
            with suppress(AclError, RuntimeError, KeyError):  # at the end of the process, all goes with it
                self.reset()


__all__: list[Any] = ["NPUGraph", "graph_pool_handle", "is_current_stream_capturing"]
