"""One pass over a data loader with worker processes.

Requests are numbered. Each goes to the next worker in turn, up to ``prefetch_factor`` ahead per worker, and the answers
are handed out in the order of their numbers (or as they come, with ``in_order=False``).
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import sys
import time
from typing import Any

from mindtorch._utils import ExceptionWrapper
from mindtorch.multiprocessing._parcel import Parcel, receive
from mindtorch_storage.storage import sharing

from . import _pipes
from ._iterators import _BaseDataLoaderIter, _DatasetKind
from ._utils.pin_memory import pin_memory
from ._utils.worker import Job, _IterableDatasetStopIteration, _ResumeIteration, _worker_loop

_JOIN_SECONDS = 5.0
_DRAIN_BYTES = 1 << 16


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Fetches batches ahead in worker processes."""

    def __init__(self, loader: Any) -> None:
        # Set first: `__del__` runs also when the rest fails.
        self._workers: list[Any] = []
        self._shutdown = False
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._worker_init_fn = loader.worker_init_fn
        self._results: list[Any] = []
        self._worker_of: dict[Any, int] = {}
        self._done_event = context.Event()
        self._index_queues: list[Any] = []
        if sharing.Strategy.current == sharing.FILE_SYSTEM:
            sharing.start_tracking()
        for worker_id in range(self._num_workers):
            self._start_worker(context, worker_id)
        self._reset(loader, first_iter=True)

    def _start_worker(self, context: Any, worker_id: int) -> None:
        job = Job(
            iterable=self._dataset_kind == _DatasetKind.Iterable,
            dataset=self._dataset,
            auto_collation=self._auto_collation,
            collate_fn=self._collate_fn,
            drop_last=self._drop_last,
            base_seed=self._base_seed,
            shared_seed=self._shared_seed,
            init_fn=self._worker_init_fn,
            worker_id=worker_id,
            num_workers=self._num_workers,
            persistent=self._persistent_workers,
        )
        requests = context.Queue()
        # The main process may end without asking: what is still unsent then does not matter.
        requests.cancel_join_thread()
        # A pipe per worker: a worker that dies while it writes cannot block the others. Duplex, as only sockets carry
        # the descriptors of shared memory.
        results, answers = context.Pipe(duplex=True)
        process = context.Process(target=_worker_loop, args=(Parcel(job), requests, answers, self._done_event))
        process.daemon = True
        process.start()
        answers.close()
        self._results.append(results)
        self._worker_of[results] = worker_id
        self._index_queues.append(requests)
        self._workers.append(process)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Begin a pass: all workers are at work again, and requests are sent ahead."""
        if first_iter:
            # Drawn once more, as torch does: the numbers of the passes to come depend on it.
            self._shared_seed = _pipes.draw_seed(self._dataset, loader.generator)
        else:
            super()._reset(loader, first_iter)
        self._send_idx = 0
        self._rcvd_idx = 0
        #: number of a request -> (worker,) while it is under way, (worker, data) when it came too early
        self._task_info: dict[int, tuple[Any, ...]] = {}
        self._tasks_outstanding = 0
        self._workers_status = [True] * self._num_workers
        self._workers_num_tasks = [0] * self._num_workers
        self._next_worker = 0
        if not first_iter:
            self._refuse_ended_workers()
            for requests in self._index_queues:
                requests.put(_ResumeIteration(self._shared_seed))
            resumed = 0
            while resumed < self._num_workers:
                # Answers left over from a pass that was not finished come first.
                resumed += isinstance(self._receive()[0], _ResumeIteration)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _refuse_ended_workers(self) -> None:
        """Raise for workers that died in a pass before this one: no answer of theirs can be waited for."""
        there = {self._worker_of[results] for results in self._results}
        ended = [worker.pid for worker_id, worker in enumerate(self._workers) if worker_id not in there]
        if ended:
            raise RuntimeError(f"DataLoader worker (pid(s) {', '.join(map(str, ended))}) exited unexpectedly")

    def _receive(self) -> Any:
        """The next message of any worker; an error if it takes too long or a worker died."""
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            ready = multiprocessing.connection.wait(self._results, left)
            for results in ready:
                try:
                    return receive(results)
                except (EOFError, OSError):
                    self._worker_is_gone(results)

    def _worker_is_gone(self, results: Any) -> None:
        """A worker closed its pipe: as it was told to, or because it died."""
        worker_id = self._worker_of[results]
        self._results.remove(results)
        results.close()
        if self._workers_status[worker_id]:
            self._workers_status[worker_id] = False
            worker = self._workers[worker_id]
            worker.join(_JOIN_SECONDS)
            sharing.remove_files_of(worker.pid)
            raise RuntimeError(f"DataLoader worker (pid(s) {worker.pid}) exited unexpectedly")

    def _next_data(self) -> Any:
        while True:
            self._skip_requests_of_ended_workers()
            if self._rcvd_idx >= self._send_idx:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if self._in_order and len(self._task_info.get(self._rcvd_idx, ())) == 2:
                worker_id, data = self._task_info.pop(self._rcvd_idx)
                self._rcvd_idx += 1
                return self._process_data(data, worker_id)
            if self._shutdown or self._tasks_outstanding <= 0:
                raise AssertionError("Invalid iterator state: shutdown or no outstanding tasks when fetching next data")
            number, data = self._receive()
            self._tasks_outstanding -= 1
            if isinstance(data, _IterableDatasetStopIteration):
                self._end_of_stream(data.worker_id, number)
                continue
            worker_id = self._task_info[number][0]
            if self._in_order and number != self._rcvd_idx:
                self._task_info[number] = (worker_id, data)
                continue
            del self._task_info[number]
            self._rcvd_idx += 1
            return self._process_data(data, worker_id)

    def _skip_requests_of_ended_workers(self) -> None:
        if not self._in_order:
            return
        while self._rcvd_idx < self._send_idx:
            info = self._task_info.get(self._rcvd_idx)
            if info is not None and (len(info) == 2 or self._workers_status[info[0]]):
                return
            if info is not None:
                del self._task_info[self._rcvd_idx]
            self._rcvd_idx += 1

    def _end_of_stream(self, worker_id: int, number: int) -> None:
        """A worker has no more samples; its other requests will not be answered."""
        if self._persistent_workers:
            self._workers_status[worker_id] = False
        else:
            self._mark_worker_as_unavailable(worker_id)
        unanswered = [key for key, info in self._task_info.items() if info[0] == worker_id and len(info) == 1]
        self._tasks_outstanding -= len(unanswered) - 1
        if not self._in_order:
            for key in unanswered:
                del self._task_info[key]
            self._rcvd_idx += len(unanswered)
        self._try_put_index()

    def _try_put_index(self) -> None:
        """Send one more request, to the next worker that is still at work."""
        if self._tasks_outstanding >= self._prefetch_factor * self._num_workers:
            return
        worker_id = self._choose_worker()
        if worker_id is None:
            return
        try:
            index = self._next_index()
        except StopIteration:
            return
        self._index_queues[worker_id].put((self._send_idx, index))
        self._task_info[self._send_idx] = (worker_id,)
        self._workers_num_tasks[worker_id] += 1
        self._tasks_outstanding += 1
        self._send_idx += 1

    def _choose_worker(self) -> int | None:
        at_work = sum(self._workers_status)
        for _ in range(self._num_workers):
            worker_id = self._next_worker
            self._next_worker = (worker_id + 1) % self._num_workers
            if not self._workers_status[worker_id]:
                continue
            share = self._prefetch_factor * self._num_workers // at_work
            if self._in_order or self._workers_num_tasks[worker_id] < share:
                return worker_id
        return None

    def _process_data(self, data: Any, worker_id: int) -> Any:
        self._workers_num_tasks[worker_id] -= 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return pin_memory(data) if self._pin_memory else data

    def _mark_worker_as_unavailable(self, worker_id: int, shutdown: bool = False) -> None:
        """Tell one worker to end."""
        self._index_queues[worker_id].put(None)
        self._workers_status[worker_id] = False

    def _shutdown_workers(self) -> None:
        """End all workers, by force those that do not end by themselves."""
        if self._shutdown or not self._workers:
            return
        self._shutdown = True
        if self._workers[0]._parent_pid != os.getpid():
            return  # a forked copy of the iterator: the workers are its parent's
        try:
            self._done_event.set()
            for worker_id in range(len(self._workers)):
                self._mark_worker_as_unavailable(worker_id, shutdown=True)
            self._drain(time.monotonic() + _JOIN_SECONDS)
            for requests in self._index_queues:
                requests.close()
        finally:
            for worker in self._workers:
                if worker.is_alive():
                    worker.terminate()
                    worker.join()
                # Batches that nobody took: anonymous memory is gone with the socket, named files are not.
                sharing.remove_files_of(worker.pid)
            for results in self._results:
                results.close()

    def _drain(self, deadline: float) -> None:
        """Read and forget what workers still send, so that they can end; unread shared memory is the kernel's to free."""
        open_pipes = list(self._results)
        while open_pipes and time.monotonic() < deadline:
            for results in multiprocessing.connection.wait(open_pipes, deadline - time.monotonic()):
                try:
                    ended = not os.read(results.fileno(), _DRAIN_BYTES)  # type: ignore[union-attr]
                except OSError:
                    ended = True
                if ended:
                    open_pipes.remove(results)
        if sys.is_finalizing():
            return  # a join with a timeout imports, which is too late; who is left is ended by force
        for worker in self._workers:
            worker.join(timeout=max(0.0, deadline - time.monotonic()))

    def __del__(self) -> None:
        self._shutdown_workers()
