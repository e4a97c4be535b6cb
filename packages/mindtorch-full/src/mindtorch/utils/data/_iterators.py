"""One pass over a data loader in the calling process."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch._profiling.record import record_function

from . import _pipes
from ._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from ._utils.pin_memory import pin_memory


class _DatasetKind:
    """Whether a dataset is looked up by key or read as a stream."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        """The fetcher for a kind of dataset."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _BaseDataLoaderIter:
    """What both kinds of iterators share: indices, pinning, the check of a promised length."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._pin_memory = _pins(loader)
        self._sampler_iter = iter(self._index_sampler)
        self._shared_seed = _pipes.draw_seed(self._dataset, loader.generator)
        _pipes.seed_pipes(self._dataset, self._shared_seed)
        # One draw per pass, with or without workers: the stream does not depend on their number.
        self._base_seed = int(torch.empty((), dtype=torch.int64).random_(generator=loader.generator))
        self._num_yielded = 0
        self._profile_name = f"enumerate(DataLoader)#{self.__class__.__name__}.__next__"

    def __iter__(self) -> Iterator[Any]:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Begin another pass."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._shared_seed = _pipes.draw_seed(self._dataset, loader.generator)
        _pipes.seed_pipes(self._dataset, self._shared_seed)

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        with record_function(self._profile_name):
            if self._sampler_iter is None:
                self._reset(None)
            data = self._next_data()
            self._num_yielded += 1
            promised = self._IterableDataset_len_called
            if self._dataset_kind == _DatasetKind.Iterable and promised is not None and self._num_yielded > promised:
                self._warn_length(promised)
            return data

    def _warn_length(self, promised: int) -> None:
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be {promised}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(message, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        # Sharing an iterator between processes would need all its queues to be shared too.
        raise NotImplementedError("{} cannot be pickled", self.__class__.__name__)


def _pins(loader: Any) -> bool:
    """Whether batches are pinned: only where there is a device to pin them for."""
    if not loader.pin_memory:
        return False
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=4,
        )
    if torch.accelerator.is_available():
        return True
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
        stacklevel=4,
    )
    return False


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Fetches each batch when it is asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("Timeout is not supported for single process dataloader")
        _pipes.divide(self._dataset, 1, 0)
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        index = self._next_index()
        data = self._dataset_fetcher.fetch(index)
        return pin_memory(data) if self._pin_memory else data
