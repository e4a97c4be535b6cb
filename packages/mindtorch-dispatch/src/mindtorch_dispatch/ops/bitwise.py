"""Bitwise logic and shifts."""

from ..decomp.alias import alias_of
from ..meta.bitwise import bitwise, bitwise_not, shift
from ..table import CORE, op

for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    op(f"{_name}.Tensor(Tensor self, Tensor other) -> Tensor", bitwise(_name), tags={CORE})
    op(f"{_name}.Scalar(Tensor self, Scalar other) -> Tensor", bitwise(_name), tags={CORE})
    op(
        f"{_name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        bitwise(_name),
        variants="function",
        inplace=False,
        out=False,
    )
op("bitwise_not(Tensor self) -> Tensor", bitwise_not, tags={CORE})
for _name in ("bitwise_left_shift", "bitwise_right_shift"):
    op(f"{_name}.Tensor(Tensor self, Tensor other) -> Tensor", shift(_name))
    op(f"{_name}.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", shift(_name))
    op(
        f"{_name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        shift(_name),
        variants="function",
        inplace=False,
        out=False,
    )
for _dunder, _target in (
    ("__and__", "bitwise_and"),
    ("__or__", "bitwise_or"),
    ("__xor__", "bitwise_xor"),
    ("__lshift__", "bitwise_left_shift"),
    ("__rshift__", "bitwise_right_shift"),
):
    op(
        f"{_dunder}.Tensor(Tensor self, Tensor other) -> Tensor",
        composite=alias_of(_target),
        variants="function",
    )
    op(
        f"{_dunder}.Scalar(Tensor self, Scalar other) -> Tensor",
        composite=alias_of(_target),
        variants="function",
    )
