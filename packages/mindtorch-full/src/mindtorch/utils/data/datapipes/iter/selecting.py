"""A pipe that keeps some samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import check_unpickable_fn, validate_input_col

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """Yields the samples for which a function returns True.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).filter(lambda x: x % 2 == 0))
    [0, 2, 4]
    """

    def __init__(self, datapipe: IterDataPipe[Any], filter_fn: Callable[..., Any], input_col: Any = None) -> None:
        check_unpickable_fn(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col
        validate_input_col(filter_fn, input_col)

    def _keeps(self, data: Any) -> bool:
        columns = self.input_col
        if columns is None:
            answer = self.filter_fn(data)
        elif isinstance(columns, (list, tuple)):
            answer = self.filter_fn(*(data[column] for column in columns))
        else:
            answer = self.filter_fn(data[columns])
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(answer))
        return bool(answer)

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            if self._keeps(data):
                yield data


adopt(globals())
