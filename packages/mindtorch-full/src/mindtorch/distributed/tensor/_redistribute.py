"""`torch.distributed.tensor._redistribute`: one arrangement of a tensor's parts from another."""

from __future__ import annotations

from mindtorch._naming import adopt
from mindtorch.distributed.tensor._api import _Redistribute as Redistribute
from mindtorch.distributed.tensor._dtensor_spec import DTensorSpec
from mindtorch.distributed.tensor._layout import redistribute_local
from mindtorch.tensor.tensor import Tensor

__all__ = ["Redistribute", "redistribute_local_tensor"]


def redistribute_local_tensor(
    local_tensor: Tensor,
    current_spec: DTensorSpec,
    target_spec: DTensorSpec,
    *,
    async_op: bool = False,
    use_graph_based_transform: bool | None = None,
    is_explicit: bool = False,
) -> Tensor:
    """Return this process's part in the arrangement of `target_spec`. NotImplementedError for another mesh."""
    if current_spec.mesh != target_spec.mesh:
        raise NotImplementedError("Cross device mesh comm not supported yet!")
    made: Tensor = redistribute_local(local_tensor, current_spec, target_spec.placements)
    return made


adopt(globals())
