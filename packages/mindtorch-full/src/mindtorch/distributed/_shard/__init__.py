"""`torch.distributed._shard`: tensors in parts, each with a process. `DTensor` follows them; checkpoints have them."""

from mindtorch_storage.lazy_import import submodules

__getattr__ = submodules(__name__, "metadata sharded_tensor sharding_spec", "torch.distributed._shard")
