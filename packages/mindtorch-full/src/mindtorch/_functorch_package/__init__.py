"""`functorch`, the package that torch installs beside itself: the former place of `torch.func`."""

from typing import Any

from mindtorch import __version__ as __version__
from mindtorch._functorch.deprecated import *  # noqa: F403 - the names of its __all__
from mindtorch._functorch.make_functional import (
    FunctionalModule as FunctionalModule,
)
from mindtorch._functorch.make_functional import (
    FunctionalModuleWithBuffers as FunctionalModuleWithBuffers,
)
from mindtorch.fx.experimental.proxy_tensor import make_fx as make_fx


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'functorch' has no attribute '{name}'")
