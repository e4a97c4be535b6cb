"""A pipe that calls a function on every sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe
from ..utils.common import check_unpickable_fn

__all__ = ["MapperMapDataPipe", "default_fn"]
_T = TypeVar("_T")


def default_fn(data: _T) -> _T:
    """The sample itself.

    >>> torch.utils.data.datapipes.map.callable.default_fn(3)
    3
    """
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[Any]):
    """Gives what a function makes of each sample.

    >>> from torch.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper([1, 2]).map(lambda x: x * 10)[1]
    20
    """

    def __init__(self, datapipe: MapDataPipe[Any], fn: Callable[..., Any] = default_fn) -> None:
        check_unpickable_fn(fn)
        self.datapipe, self.fn = datapipe, fn

    def __len__(self) -> int:
        return len(self.datapipe)  # type: ignore[arg-type]  # TypeError where it has none

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])


adopt(globals())
