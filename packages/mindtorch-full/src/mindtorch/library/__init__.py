"""`torch.library`: operators defined at run time."""

import mindtorch.library._unregistered  # noqa: F401 (installs what answers for operators without gradients)
from mindtorch._naming import adopt
from mindtorch.library._custom import CustomOpDef as CustomOpDef
from mindtorch.library._custom import custom_op, triton_op, wrap_triton
from mindtorch.library._fakes import get_ctx
from mindtorch.library._inference import infer_schema
from mindtorch.library._libraries import Library, define, get_kernel, impl
from mindtorch.library._libraries import _scoped_library as _scoped_library
from mindtorch.library._opcheck import opcheck as opcheck
from mindtorch.library._registrations import (
    impl_abstract,
    register_autocast,
    register_fake,
    register_torch_dispatch,
    register_vmap,
)
from mindtorch.library._registrations import (
    register_autograd as register_autograd,
)
from mindtorch.library._registrations import (
    register_kernel as register_kernel,
)
from mindtorch_dispatch.extend.entries import fallthrough_kernel

__all__ = [
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_fake",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

adopt(globals())
