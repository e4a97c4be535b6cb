"""`torch_npu` for programs that import it beside `torch`: the devices are `torch.npu`'s, importing it loads them."""

from typing import Any

import mindtorch
from mindtorch import npu
from mindtorch._backends import load_backend
from mindtorch._torch_npu import contrib, operators, optim, profiler, utils
from mindtorch._torch_npu.operators import *  # noqa: F403 - the names of its __all__

__all__ = [*operators.__all__, "contrib", "npu", "optim", "profiler", "utils"]

__version__ = mindtorch.__version__

load_backend("npu")


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'torch_npu' has no attribute '{name}'")
