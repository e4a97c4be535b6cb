"""The recording itself: the queue of one `with` block, when it runs, and whom an error belongs to."""

from __future__ import annotations

import threading
from typing import Any

from mindtorch_storage.deferred import thread
from mindtorch_storage.storage.memory import no_memory_in_torchs_words
from mindtorch_storage.tensor_base import TensorBase, has_bytes

from ..execute.errstate import SILENT, enter, leave
from ..interface.native import native_path
from ..state import PIPELINE_MASK, state
from .deferral import ALIAS
from .fusion import Batch
from .record import Record, caller, fill_alias, place_of, results_of, retry

DEFAULT_LIMIT = 1024
"""How many recorded calls wait at most; one more runs them all."""


class NeverComputed:
    """What a tensor waits for whose call failed, or came after one that did: reading it raises."""

    def __init__(self, error: BaseException, place: str) -> None:
        self.error = error
        self.place = place

    def flush(self) -> None:
        """Raise RuntimeError that names the call that failed."""
        raise RuntimeError(
            f"this tensor was never computed: the pipeline stopped at {self.place}, "
            f"which raised {type(self.error).__name__}: {self.error}"
        ) from self.error


class Pipeline:
    """A block in which calls are recorded; made by `torch.pipeline()`.

    Args:
        fuse: run chains of elementwise and row-by-row ops in one pass over cache-sized blocks.
        limit: run what is recorded when more calls than this wait.
        strict: refuse ops that have a kernel but nothing that tells their result's geometry; otherwise run what is
            recorded and then the op, at once.
    """

    __slots__ = (
        "__weakref__",
        "_entered",
        "_lock",
        "_outer",
        "_runner",
        "_was_on",
        "fuse",
        "limit",
        "records",
        "strict",
    )

    def __init__(self, *, fuse: bool = False, limit: int = DEFAULT_LIMIT, strict: bool = True) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        self.fuse = bool(fuse)
        self.limit = limit
        self.strict = strict
        self.records: list[Record] = []
        self._lock = threading.Lock()
        self._outer: Pipeline | None = None
        self._was_on = False
        self._entered = False
        self._runner: int | None = None

    def __enter__(self) -> Pipeline:
        if self._entered:
            raise RuntimeError("this pipeline is already active; nest another one")
        self._entered = True
        self._outer = thread.pipe
        mode = state.mode
        self._was_on = bool(mode.include & PIPELINE_MASK)
        thread.pipe = self
        if not self._was_on:
            state.mode = mode.replace(include=mode.include | PIPELINE_MASK)
        return self

    def __exit__(self, *exc_info: object) -> None:
        try:
            self.flush()
        finally:
            thread.pipe = self._outer
            self._outer = None
            self._entered = False
            if not self._was_on:
                mode = state.mode
                state.mode = mode.replace(include=mode.include & ~PIPELINE_MASK)

    def __len__(self) -> int:
        """How many recorded calls wait."""
        return len(self.records)

    def __repr__(self) -> str:
        return f"<pipeline of {len(self.records)} recorded calls{', fusing' if self.fuse else ''}>"

    def flush(self) -> None:
        """Run what is recorded here and in the pipelines around this one, the oldest first.

        Raises what a kernel raises, with a note that names the op and the line that recorded it. What was recorded after
        that call does not run, and reading its results raises RuntimeError.
        """
        if self._outer is not None:
            self._outer.flush()
        runner = self._runner
        if (runner is None and not self.records) or runner == threading.get_ident():
            return  # nothing waits, or a kernel that runs now asks for its operands: they are there
        with self._lock:  # another thread may be at it: then this one waits for the end
            self._runner = threading.get_ident()
            token = enter(SILENT)
            try:
                if self.fuse:
                    self._run_fused()
                else:
                    self._run()
            finally:
                leave(token)
                self._runner = None

    def share(self, tensor: TensorBase, alias: Any) -> None:
        """Let `alias` have the bytes of `tensor` once that one has them."""
        alias._pipe = self
        self.records.append((fill_alias, ALIAS, (tensor,), alias, *caller(2)))

    def _taken(self) -> list[Record]:
        """Take off what waits; another thread may record meanwhile."""
        taken = self.records[:]
        del self.records[: len(taken)]
        return taken

    def _run(self) -> None:
        fill = native_path.fill
        while self.records:
            waiting = self._taken()
            waiting.reverse()  # from the end on each record is let go of when it has run
            try:
                with no_memory_in_torchs_words():
                    self._run_taken(waiting, fill)
            except BaseException as error:
                if waiting:
                    self._stop(error, waiting.pop(), waiting[::-1])
                raise

    @staticmethod
    def _run_taken(waiting: list[Any], fill: Any) -> None:
        while waiting:
            try:
                if fill is not None:
                    fill(waiting)
                if waiting:
                    record = waiting[-1]
                    record[0](record[1], record[2], record[3])
                    waiting.pop()
            except AttributeError as error:
                retry(waiting[-1], error)
                waiting.pop()

    def _run_fused(self) -> None:
        while self.records:
            batch = Batch(self._taken())
            try:
                with no_memory_in_torchs_words():
                    batch.run()
            except BaseException as error:
                self._stop(error, batch.records[batch.at], batch.records[batch.at + 1 :])
                raise

    def _stop(self, error: BaseException, record: Any, rest: Any) -> None:
        """Attribute the error to the line that recorded the call; nothing recorded after it will run."""
        place = place_of(record)
        error.add_note(f"recorded by {place}")
        never = NeverComputed(error, place)
        for one in (record, *rest, *self.records):
            for tensor in results_of(one):
                tensor._pipe = None if has_bytes(tensor) else never
        self.records.clear()


def pipeline_context(*, fuse: bool = False, limit: int = DEFAULT_LIMIT, strict: bool = True) -> Pipeline:
    """Return a context manager in which calls are recorded instead of run; see `Pipeline`."""
    return Pipeline(fuse=fuse, limit=limit, strict=strict)
