"""`torch_npu` for programs that import it beside `torch`: the devices are `torch.npu`'s, importing it loads them."""

from typing import Any

import mindtorch
from mindtorch import npu
from mindtorch._backends import load_backend
from mindtorch._torch_npu.attention import npu_fusion_attention

__all__ = ["npu", "npu_dtype_cast", "npu_fusion_attention", "npu_rms_norm", "npu_swiglu"]

__version__ = mindtorch.__version__

load_backend("npu")


def npu_rms_norm(self: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any]:
    """Return `self` over the root of its mean square, times `gamma`, and the reciprocal of that root."""
    dims = tuple(range(-gamma.dim(), 0))
    rstd = self.float().pow(2).mean(dims, keepdim=True).add(epsilon).rsqrt()
    return (self.float() * rstd).to(self.dtype) * gamma, rstd


def npu_swiglu(self: Any, dim: int = -1) -> Any:
    """Return the first half along a dimension under `silu`, times the second."""
    first, second = self.chunk(2, dim)
    return mindtorch.nn.functional.silu(first) * second


def npu_dtype_cast(self: Any, dtype: Any) -> Any:
    """Return the tensor in another dtype."""
    return self.to(dtype)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'torch_npu' has no attribute '{name}'")
