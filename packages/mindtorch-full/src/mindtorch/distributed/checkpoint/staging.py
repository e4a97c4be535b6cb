"""Copies of state dicts that are written while a program goes on: who makes them, and when they are complete."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE
from mindtorch.distributed.tensor import DTensor

__all__ = ["AsyncStager", "BlockingAsyncStager", "DefaultStager", "StagingOptions"]

globals().update(classes(__name__, "_ReplicationStager"))


@runtime_checkable
class AsyncStager(Protocol):
    """Makes the copy that `async_save` writes.

    `stage` returns the copy, or a future of it: then `async_save` gives an `AsyncSaveResponse`. A program that changes its
    state calls `synchronize_staging` first; `async_save` does where `should_synchronize_after_execute` says so.

    >>> from torch.distributed.checkpoint.staging import AsyncStager, BlockingAsyncStager
    >>> isinstance(BlockingAsyncStager(), AsyncStager)
    True
    """

    _synchronize_after_execute: bool = True

    @property
    def should_synchronize_after_execute(self) -> bool:
        """Whether `async_save` waits for the copy."""
        return self._synchronize_after_execute

    def stage(self, state_dict: STATE_DICT_TYPE) -> Future[STATE_DICT_TYPE] | STATE_DICT_TYPE:
        """Return a copy on the host, or a future of it."""
        raise NotImplementedError(f"{self.__class__.__name__} must implement stage method")

    def synchronize_staging(self) -> None:
        """Wait for the copy."""

    def close(self) -> None:
        """Give back what the copies need."""


@dataclass
class StagingOptions:
    """How `DefaultStager` copies: into pinned memory, into memory of several processes, in a thread, without waiting.

    >>> from torch.distributed.checkpoint.staging import StagingOptions
    >>> StagingOptions(use_async_staging=False).use_async_staging
    False
    """

    use_pinned_memory: bool = True
    use_shared_memory: bool = True
    use_async_staging: bool = True
    use_non_blocking_copy: bool = True


class DefaultStager(AsyncStager):
    """Copies in a thread, or at once.

    >>> from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions
    >>> stager = DefaultStager(StagingOptions(False, False, False, False))
    >>> stager.stage({"weight": torch.ones(2)})
    {'weight': tensor([1., 1.])}
    """

    def __init__(self, config: StagingOptions = StagingOptions()) -> None:  # noqa: B008 - nobody changes it
        self._config = config
        self._pool: ThreadPoolExecutor | None = None
        self._future: Future[STATE_DICT_TYPE] | None = None
        if config.use_async_staging:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="staging")
        if config.use_non_blocking_copy and not torch.accelerator.is_available():
            raise AssertionError("Non-blocking copy requires that the current accelerator is available.")

    def stage(self, state_dict: STATE_DICT_TYPE, **kwargs: Any) -> STATE_DICT_TYPE | Future[STATE_DICT_TYPE]:
        """Return a copy on the host, or a future of it."""
        if self._pool is None:
            return self._stage(state_dict, **kwargs)
        self._future = self._pool.submit(self._stage, state_dict, **kwargs)
        return self._future

    def _stage(self, state_dict: STATE_DICT_TYPE, **kwargs: Any) -> STATE_DICT_TYPE:
        share = self._config.use_shared_memory
        return {key: staged(value, share) for key, value in state_dict.items()}

    def close(self) -> None:
        """End the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    def synchronize_staging(self) -> None:
        """Wait for the copy."""
        if self._future is not None:
            self._future.result()


class BlockingAsyncStager(AsyncStager):
    """Copies at once; with `cache_staged_state_dict`, always into the same memory.

    >>> from torch.distributed.checkpoint.staging import BlockingAsyncStager
    >>> BlockingAsyncStager().stage({"weight": torch.ones(2)})
    {'weight': tensor([1., 1.])}
    """

    _synchronize_after_execute: bool = False

    def __init__(self, cache_staged_state_dict: bool = False, type_check: bool = False) -> None:
        self.cache_staged_state_dict, self.type_check = cache_staged_state_dict, type_check
        self.state_dict_cache: STATE_DICT_TYPE | None = None

    def stage(self, state_dict: STATE_DICT_TYPE) -> STATE_DICT_TYPE:
        """Return a copy on the host."""
        if not self.cache_staged_state_dict:
            return {key: staged(value) for key, value in state_dict.items()}
        before = self.state_dict_cache or {}
        self.state_dict_cache = {key: _renewed(value, before.get(key)) for key, value in state_dict.items()}
        return self.state_dict_cache

    def synchronize_staging(self) -> None:
        """Return at once: the copy is complete."""

    def close(self) -> None:
        """Give the cached copy back."""
        self.state_dict_cache = None


def staged(value: Any, share: bool = False) -> Any:
    """Return a copy on the host that later steps do not change."""
    if isinstance(value, DTensor):
        return DTensor(staged(value._local_tensor, share), value._dtensor_spec, requires_grad=False)
    if isinstance(value, torch.Tensor):
        copied = value.detach().cpu().clone()
        return copied.share_memory_() if share else copied
    if isinstance(value, Mapping):
        return {key: staged(inner, share) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(staged(inner, share) for inner in value)
    return copy.deepcopy(value)


def _renewed(value: Any, before: Any) -> Any:
    """Return a copy, in the memory of the one before where that is alike."""
    if isinstance(value, Mapping):
        known = before if isinstance(before, Mapping) else {}
        return {key: _renewed(inner, known.get(key)) for key, inner in value.items()}
    if isinstance(value, DTensor):
        alike = isinstance(before, DTensor) and before._dtensor_spec == value._dtensor_spec
        part = _renewed(value._local_tensor, before._local_tensor if alike else None)
        return DTensor(part, value._dtensor_spec, requires_grad=False)
    alike = isinstance(value, torch.Tensor) and isinstance(before, torch.Tensor) and before.shape == value.shape
    return before.copy_(value.detach()) if alike and before.dtype == value.dtype else staged(value)


adopt(globals())
