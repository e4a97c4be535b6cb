"""Building blocks of neural networks."""

from mindtorch.nn import _reduction, common_types, functional, init
from mindtorch.nn.modules import *  # noqa: F403 - the list is modules.__all__
from mindtorch.nn.modules import __all__ as _module_names
from mindtorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

from mindtorch.nn import attention, modules, parallel, parameter, utils  # isort: skip - they build on the modules
from mindtorch.nn.parallel import DataParallel  # isort: skip

__all__ = [
    *_module_names,
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "_reduction",
    "attention",
    "common_types",
    "functional",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]
