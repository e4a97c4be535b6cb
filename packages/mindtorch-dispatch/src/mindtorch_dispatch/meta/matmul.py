"""Meta rules of matrix products."""

from __future__ import annotations

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from .checks import check
from .rule import meta_rule


_C_TYPES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long",
    "int32": "int", "int16": "short", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def c_type(dtype: Dtype) -> str:
    """Return the C++ name that some of torch's messages use for a dtype."""
    return _C_TYPES.get(dtype.name, dtype.name)


def check_same_dtype(first: Spec, second: Spec, name: str = "") -> None:
    """Raise torch's error for operands of two dtypes."""
    check(
        first.dtype is second.dtype,
        lambda: f"expected m1 and m2 to have the same dtype, but got: {c_type(first.dtype)} != {c_type(second.dtype)}",
    )


@meta_rule(out=True)
def mm(self: Spec, mat2: Spec) -> Spec:
    """`mm`: (n, k) x (k, m)."""
    check(self.ndim == 2, lambda: "self must be a matrix")
    check(mat2.ndim == 2, lambda: "mat2 must be a matrix")
    check(
        self.shape[1] == mat2.shape[0],
        lambda: f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[1]} and "
        f"{mat2.shape[0]}x{mat2.shape[1]})",
    )
    check_same_dtype(self, mat2)
    return Spec.of(self.dtype, self.device, (self.shape[0], mat2.shape[1]))
