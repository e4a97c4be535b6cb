"""Pipes that call a function on every sample."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch._naming import adopt

from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe, length_of
from ..utils.common import check_unpickable_fn, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """Yields what a function makes of each sample, or of some of its columns.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(3)).map(lambda x: x * 10))
    [0, 10, 20]
    """

    def __init__(
        self, datapipe: IterDataPipe[Any], fn: Callable[..., Any], input_col: Any = None, output_col: Any = None
    ) -> None:
        check_unpickable_fn(fn)
        self.datapipe, self.fn, self.input_col = datapipe, fn, input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data: Any) -> Any:
        columns = self.input_col
        if columns is None:
            return self.fn(data)
        several = isinstance(columns, (list, tuple))
        result = self.fn(*(data[column] for column in columns)) if several else self.fn(data[columns])
        was_tuple = isinstance(data, tuple)
        changed = list(data) if was_tuple else data
        if self.output_col == -1:
            changed.append(result)
        elif self.output_col is not None:
            changed[self.output_col] = result
        elif several:
            changed[columns[0]] = result
            for column in sorted(columns[1:], reverse=True):
                del changed[column]
        else:
            changed[columns] = result
        return tuple(changed) if was_tuple else changed

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return length_of(self.datapipe, self)


def _collated(conversion: dict[Any, Any], columns: Any, batch: list[Any]) -> dict[Any, Any]:
    """Collate a batch of data frames column by column; columns without a function raise."""
    chosen = {}
    for name, function in conversion.items():
        for column in name if isinstance(name, tuple) else (name,):
            chosen[column] = function
    missing = [column for column in columns if column not in chosen]
    if missing:
        raise ValueError(f"Conversion of columns {missing} is not given")
    return {column: chosen[column]([row[column] for row in batch]) for column in columns}


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Yields each batch as `default_collate`, or a function of the caller's, makes it.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([(1, 2.0), (3, 4.0)]).batch(2).collate())
    [[tensor([1, 3]), tensor([2., 4.], dtype=torch.float64)]]
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        conversion: Callable[..., Any] | dict[Any, Any] | None = default_collate,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        function: Any = collate_fn if collate_fn is not None else conversion
        if isinstance(function, dict):
            first = next(iter(function), None)
            function = functools.partial(_collated, function, list(function) if first is not None else [])
        super().__init__(datapipe, fn=function)


adopt(globals())
