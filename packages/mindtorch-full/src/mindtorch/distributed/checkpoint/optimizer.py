"""Optimizer states of FSDP1 from a checkpoint."""

from __future__ import annotations

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.default_planner import _EmptyStateDictLoadPlanner
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE
from mindtorch.distributed.checkpoint.state_dict_loader import _load_state_dict
from mindtorch.distributed.checkpoint.storage import StorageReader
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from mindtorch.distributed.tensor import Shard, distribute_tensor
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree

__all__ = ["load_sharded_optimizer_state_dict"]


def load_sharded_optimizer_state_dict(
    model_state_dict: STATE_DICT_TYPE,
    optimizer_key: str,
    storage_reader: StorageReader,
    planner: object = None,
) -> STATE_DICT_TYPE:
    """Return an optimizer's state with tensors in parts, as the model's tensors are."""
    if planner is not None:
        raise NotImplementedError("load_sharded_optimizer_state_dict: a planner of the program's is not offered")
    metadata = storage_reader.read_metadata()
    if not any(name.startswith(f"{optimizer_key}.") for name in metadata.state_dict_metadata):
        raise RuntimeError(f"Missing key in checkpoint state_dict: {optimizer_key}.")
    state: STATE_DICT_TYPE = {}
    _load_state_dict(state, storage_reader, planner=_EmptyStateDictLoadPlanner(keys={optimizer_key}))
    meshes = [v.device_mesh for v in model_state_dict.values() if hasattr(v, "device_mesh")]
    mesh = meshes[0] if meshes else init_device_mesh("cpu", (dist.get_world_size(),))
    return dict(_pytree.tree_map(lambda value: _spread(value, mesh), state))


def _spread(value: object, mesh: DeviceMesh) -> object:
    if not isinstance(value, Tensor) or not value.dim():
        return value
    return distribute_tensor(value, mesh, [Shard(0)], src_data_rank=None)


adopt(globals())
