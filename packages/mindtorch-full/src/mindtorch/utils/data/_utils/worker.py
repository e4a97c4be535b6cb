"""What runs in a worker process."""

from __future__ import annotations

import os
import queue
import random
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import mindtorch as torch
from mindtorch._utils import ExceptionWrapper
from mindtorch.multiprocessing._parcel import Message, Parcel

from .. import _pipes
from .fetch import _IterableDatasetFetcher, _MapDatasetFetcher

_CHECK_INTERVAL = 5.0


class WorkerInfo:
    """What a worker can know of itself; cannot be changed."""

    __slots__ = ("__initialized", "dataset", "id", "num_workers", "seed", "worker_method")

    id: int
    num_workers: int
    seed: int
    dataset: Any

    def __init__(
        self, id: int, num_workers: int, seed: int, dataset: Any, worker_method: str | None = "multiprocessing"
    ) -> None:
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset
        self.worker_method = worker_method
        self.__initialized = True

    def __setattr__(self, key: str, value: Any) -> None:
        if hasattr(self, "_WorkerInfo__initialized"):
            raise RuntimeError(f"Cannot assign attributes to {self.__class__.__name__} objects")
        super().__setattr__(key, value)

    def __repr__(self) -> str:
        items = ", ".join(f"{name}={getattr(self, name)}" for name in ("id", "num_workers", "seed", "dataset"))
        return f"{self.__class__.__name__}({items})"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process, what it is; None in the main process.

    >>> print(torch.utils.data.get_worker_info())
    None
    """
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """Sent when a worker's stream has ended."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """Sent to begin another epoch, and sent back when the worker has begun it."""

    seed: int | None = None


class Job(NamedTuple):
    """Everything a worker is started with, besides its queues."""

    iterable: bool
    dataset: Any
    auto_collation: bool
    collate_fn: Any
    drop_last: bool
    base_seed: int
    shared_seed: int | None
    init_fn: Any
    worker_id: int
    num_workers: int
    persistent: bool

    def make_fetcher(self) -> Any:
        """The fetcher for this job's dataset."""
        kind = _IterableDatasetFetcher if self.iterable else _MapDatasetFetcher
        return kind(self.dataset, self.auto_collation, self.collate_fn, self.drop_last)


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four words to seed numpy with; nearby seeds and workers give unrelated streams."""
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(entropy).generate_state(4)]


def _start(job: Job) -> Any:
    """Seed every random stream, tell the user's code who it is, and open the dataset."""
    torch.set_num_threads(1)
    seed = job.base_seed + job.worker_id
    random.seed(seed)
    torch.manual_seed(seed)
    np.random.seed(_generate_state(job.base_seed, job.worker_id))
    global _worker_info
    _worker_info = WorkerInfo(id=job.worker_id, num_workers=job.num_workers, seed=seed, dataset=job.dataset)
    try:
        _pipes.seed_pipes(job.dataset, job.shared_seed)
        _pipes.divide(job.dataset, job.num_workers, job.worker_id)
        if job.init_fn is not None:
            job.init_fn(job.worker_id)
        return job.make_fetcher()
    except Exception as error:  # noqa: BLE001 - whatever the user's code raises is raised in the main process
        return _wrapped(error, job)


def _wrapped(error: Exception, job: Job) -> ExceptionWrapper:
    return ExceptionWrapper(
        (type(error), error, error.__traceback__), where=f"in DataLoader worker process {job.worker_id}"
    )


def _fetched(job: Job, fetcher: Any, index: Any) -> Any:
    """A batch, or what stands for the end of the stream or for an error."""
    try:
        return fetcher.fetch(index)
    except Exception as error:  # noqa: BLE001 - as above
        if isinstance(error, StopIteration) and job.iterable:
            return _IterableDatasetStopIteration(job.worker_id)
        return _wrapped(error, job)


def _packed(job: Job, message: Any) -> Message:
    try:
        return Message(message)
    except Exception as error:  # noqa: BLE001 - a batch that cannot travel is an error of the user's code
        return Message((message[0], _wrapped(error, job)))


def _worker_loop(load: Parcel, index_queue: Any, answers: Any, done_event: Any) -> None:
    """Answer requests until told to stop, or until the main process is gone."""
    job: Job = load.value
    parent = os.getppid()
    opened = _start(job)
    ended = False
    while True:
        try:
            request = index_queue.get(timeout=_CHECK_INTERVAL)
        except queue.Empty:
            if os.getppid() != parent:
                break
            continue
        if request is None or done_event.is_set():
            break
        if isinstance(request, _ResumeIteration):
            Message((request, None)).send(answers)
            ended = False
            _pipes.seed_pipes(job.dataset, request.seed)
            opened = job.make_fetcher()
            continue
        if ended:
            continue  # the request was on its way when the stream ended
        number, index = request
        if isinstance(opened, ExceptionWrapper):
            data, opened = opened, None
        else:
            data = _fetched(job, opened, index)
        ended = isinstance(data, _IterableDatasetStopIteration)
        _packed(job, (number, data)).send(answers)
        del data  # the memory is the main process's now
    answers.close()
