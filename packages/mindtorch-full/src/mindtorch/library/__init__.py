"""`torch.library`: operators defined at run time."""

import mindtorch.library._unregistered  # noqa: F401 (installs what answers for operators without gradients)
from mindtorch._naming import adopt
from mindtorch.library._custom import CustomOpDef, custom_op, triton_op, wrap_triton
from mindtorch.library._fakes import get_ctx
from mindtorch.library._inference import infer_schema
from mindtorch.library._libraries import Library, define, fallthrough_kernel, get_kernel, impl
from mindtorch.library._opcheck import opcheck
from mindtorch.library._registrations import (
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

adopt(globals())
