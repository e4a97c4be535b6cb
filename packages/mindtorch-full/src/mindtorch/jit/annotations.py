"""Annotations that TorchScript reads; in Python they say nothing."""

from typing import Any, Dict, List, Tuple  # noqa: UP035 (torch's module has them, and libraries take them)
from typing import Optional as Optional
from typing import Union as Union

from mindtorch._naming import adopt

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Tuple"]


class BroadcastingListCls:
    """Subscripted with a type it annotates a list, or one value that stands for all of the list."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingListCls()
BroadcastingList2 = BroadcastingListCls()
BroadcastingList3 = BroadcastingListCls()
BroadcastingList4 = BroadcastingListCls()
BroadcastingList5 = BroadcastingListCls()
BroadcastingList6 = BroadcastingListCls()

adopt(globals())
