"""`torch.distributed.tensor.device_mesh`: the former place of `torch.distributed.device_mesh`."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from mindtorch.distributed.device_mesh import _mesh_resources as _mesh_resources

__all__ = ["DeviceMesh", "init_device_mesh"]

__getattr__ = missing_attribute(__name__)
