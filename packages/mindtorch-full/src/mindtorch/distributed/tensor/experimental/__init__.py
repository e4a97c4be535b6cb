"""What torch calls experimental about spread tensors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.distributed.tensor._api import DTensor
from mindtorch.distributed.tensor.experimental._func_map import local_map
from mindtorch.distributed.tensor.experimental._register_sharding import register_sharding

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Within the block plain tensors count as copies that every process has."""
    before = DTensor._implicit_replication
    DTensor._implicit_replication = True
    try:
        yield
    finally:
        DTensor._implicit_replication = before


def context_parallel(*args: Any, **kwargs: Any) -> NoReturn:
    """Split the sequence of attention over processes; raises."""
    raise NotImplementedError("torch.distributed.tensor.experimental.context_parallel is not offered")


adopt(globals())
