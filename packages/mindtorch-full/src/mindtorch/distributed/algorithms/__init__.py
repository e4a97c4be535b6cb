"""Algorithms over processes: uneven inputs, communication hooks, averaging of models."""

from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

adopt(globals())
