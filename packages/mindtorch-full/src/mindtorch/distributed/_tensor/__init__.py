"""`torch.distributed._tensor`: the former place of `torch.distributed.tensor`."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed import tensor as _tensor
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from mindtorch.distributed.tensor import *  # noqa: F403 - the names of its __all__

__all__ = [*_tensor.__all__, "DeviceMesh", "init_device_mesh"]

__getattr__ = missing_attribute(__name__)
