"""Meta rules of complex numbers and views of their parts."""

from __future__ import annotations

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..apart import ELEMENTWISE
from ..typing import Tensor
from .checks import check
from .pointwise import broadcast_spec
from .rule import MetaRule, Outputs, View
from .support import require

_PARTS = ("float16", "float32", "float64")


def _out_dtype(spec: Spec, target: Dtype) -> str:
    return (
        f"Expected object of scalar type {spec.dtype.scalar_name} but got scalar type {target.scalar_name} for "
        "argument "
        "'out'"
    )


def complex_of(name: str) -> MetaRule:
    """Rule of `complex` and `polar`: two real operands of one dtype."""

    def rule(first: Spec, second: Spec) -> Outputs:
        check(
            first.dtype.name in _PARTS and second.dtype.name in _PARTS,
            lambda: (
                "Expected both inputs to be Half, Float or Double tensors but got "
                f"{first.dtype.scalar_name} and {second.dtype.scalar_name}"
            ),
        )
        check(
            first.dtype is second.dtype,
            lambda: (
                f"Expected object of scalar type {first.dtype.scalar_name} but got scalar type "
                f"{second.dtype.scalar_name} for second argument"
            ),
        )
        require(name != "polar" or first.dtype.name != "float16", first, "polar_cpu")
        return Outputs(broadcast_spec((first, second), first.dtype.to_complex()))

    return MetaRule(rule, out=True, exact=_out_dtype, apart=ELEMENTWISE)


def _view_as_real(self: Spec) -> View:
    check(self.dtype.is_complex, lambda: "view_as_real is only supported for complex tensors")
    stride = (*(2 * step for step in self.stride), 1)
    spec = Spec.of(self.dtype.to_real(), self.device, (*self.shape, 2), stride)
    return View(spec, lambda base, *rest: base._offset)


view_as_real = MetaRule(_view_as_real, view=True)
"""`view_as_real`: elements count half as far, so the start doubles."""


def _start_of_pairs(base: Tensor, *rest: object) -> int:
    check(base._offset % 2 == 0, lambda: "Tensor must have a storage_offset divisible by 2")
    found: int = -(base._offset // 2)
    return found


def _view_as_complex(self: Spec) -> View:
    check(
        self.dtype.name in _PARTS,
        lambda: (
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            + self.dtype.scalar_name
        ),
    )
    check(self.ndim != 0, lambda: "Input tensor must have one or more dimensions")
    check(self.shape[-1] == 2, lambda: "Tensor must have a last dimension of size 2")
    check(self.stride[-1] == 1, lambda: "Tensor must have a last dimension with stride 1")
    for step in self.stride[:-1]:
        check(step % 2 == 0, lambda: "Tensor must have a stride divisible by 2 for all but last dimension")
    stride = tuple(step // 2 for step in self.stride[:-1])
    return View(Spec.of(self.dtype.to_complex(), self.device, self.shape[:-1], stride), _start_of_pairs)


view_as_complex = MetaRule(_view_as_complex, view=True)
"""`view_as_complex`."""
