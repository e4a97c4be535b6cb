"""`torch_npu` for programs that import it beside `torch`: the devices are `torch.npu`'s, importing it loads them."""

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import npu
from mindtorch._backends import load_backend
from mindtorch._submodules import offer
from mindtorch._torch_npu import contrib, operators, optim, profiler, testing, utils
from mindtorch._torch_npu._absent import placeholders
from mindtorch._torch_npu._dtypes import DTYPES, unsupported_dtype
from mindtorch._torch_npu._format import Format
from mindtorch._torch_npu.memory import erase_stream
from mindtorch._torch_npu.operators import *  # noqa: F403 - the names of its __all__
from mindtorch_storage.lazy_import import submodules

__all__ = [
    *operators.__all__,
    "Format",
    "contrib",
    "erase_stream",
    "npu",
    "optim",
    "profiler",
    "testing",
    "unsupported_dtype",
    "utils",
]

__version__ = mindtorch.__version__

obfuscation_calculate, obfuscation_finalize, obfuscation_initialize = (
    npu.obfuscation_calculate,
    npu.obfuscation_finalize,
    npu.obfuscation_initialize,
)

load_backend("npu")


globals().update(DTYPES)
globals().update(placeholders("torch_npu"))
globals().update({name: getattr(operators, name) for name in vars(operators) if name.startswith("_npu_")})


def register_atb_extensions() -> None:
    """Do nothing: the operators of the vendor's transformer library are there from the beginning."""


offer(
    globals(),
    {
        "atb": {
            **{name: getattr(operators.transformer, name) for name in operators.transformer.__all__},
            **placeholders("torch_npu.atb"),
        },
        "op_plugin.atb._atb_ops": {"_register_atb_extensions": register_atb_extensions},
        **{
            path: placeholders(f"torch_npu.{path}")
            for path in (
                "_afd",
                "jit",
                "jit.fusion_pass.fast_gelu",
                "jit.register_fusion_pattern",
                "multiprocessing.reductions",
                "onnx",
            )
        },
    },
)

__getattr__: Callable[[str], Any] = submodules(__name__, "_C _inductor distributed", "torch_npu")
