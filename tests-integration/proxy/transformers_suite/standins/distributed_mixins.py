"""Stands in for the sharding mixins: torch.distributed is not available, and their tests need several processes."""


class FSDPTesterMixin:
    """No tests of sharded training."""


class TensorParallelTesterMixin:
    """No tests of tensor parallelism."""
