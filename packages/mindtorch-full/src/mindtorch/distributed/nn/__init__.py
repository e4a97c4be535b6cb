"""Collectives that gradients go through."""

from mindtorch._naming import adopt
from mindtorch.distributed import _not_offered
from mindtorch.distributed.nn.functional import (
    _all_gather_base,  # noqa: F401
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

globals().update(_not_offered.classes(__name__, "RemoteModule"))

adopt(globals())
