"""A pipe over a sequence or a mapping."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mindtorch._naming import adopt

from ..datapipe import MapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]
_T = TypeVar("_T")


class SequenceWrapperMapDataPipe(MapDataPipe[_T]):
    """Gives the elements of a sequence, of a copy of it unless told otherwise.

    >>> pipe = torch.utils.data.datapipes.map.SequenceWrapper({"a": 1, "b": 2})
    >>> pipe["b"], len(pipe)
    (2, 2)
    """

    sequence: Any

    def __init__(self, sequence: Sequence[_T] | Mapping[Any, _T], deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:  # what holds open files, say
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place modification would affect "
                    "source data",
                    stacklevel=2,
                )

    def __getitem__(self, index: Any) -> _T:
        value: _T = self.sequence[index]
        return value

    def __len__(self) -> int:
        return len(self.sequence)


adopt(globals())
