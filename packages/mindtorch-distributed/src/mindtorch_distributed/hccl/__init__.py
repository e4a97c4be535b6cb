"""The engine for Ascend devices: HCCL."""

from mindtorch_distributed.hccl.communicator import HcclCommunicator
from mindtorch_distributed.hccl.library import DATA_TYPES, REDUCTIONS, Hccl, HcclError

__all__ = ["DATA_TYPES", "REDUCTIONS", "Hccl", "HcclCommunicator", "HcclError"]
