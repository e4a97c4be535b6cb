"""`torch.distributed.config`: settings that programs read and patch."""

import os

from mindtorch.utils._config_module import install

__all__ = ["compile_on_one_rank", "use_torchcomms"]

# Neither changes anything here: graphs are made on every rank, and all communication is an engine's.
compile_on_one_rank: bool = bool(os.environ.get("TORCH_DISTRIBUTED_COMPILE_ON_ONE_RANK", ""))
use_torchcomms: bool = os.environ.get("TORCH_DISTRIBUTED_USE_TORCHCOMMS", "") == "1"

install(__name__)
