"""`torch_npu.contrib`."""

from mindtorch._torch_npu.contrib import function, module
from mindtorch._torch_npu.contrib.function import *  # noqa: F403 - the names of its __all__
from mindtorch._torch_npu.contrib.module import *  # noqa: F403 - the names of its __all__

__all__ = [*function.__all__, *module.__all__]
