"""What Python's side of an operator knows beyond its schema: renamed keywords, deprecated call forms, exceptions.

Facts of torch 2.13, kept as data. Everything else about a Python signature follows from the schema.
"""

from __future__ import annotations

NUMPY_NAMES: dict[str, tuple[str, ...]] = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("x", "a", "x1"),
    "other": ("x2",),
}
"""Keywords numpy users may write instead."""

NUMBERS_AS_TENSORS: frozenset[str] = frozenset(
    f"{name}{form}"
    for name in ("add", "div", "divide", "floor_divide", "mul", "multiply", "sub", "subtract", "true_divide")
    for form in ("", "_", "_out")
) | {"to", "_to_copy", "copy_", "copy", "_conj", "_div_floor", "_div_trunc"}
"""Functions whose Tensor parameters take a Python number, which becomes a 0-d tensor."""

PYTHON_NAMES: dict[tuple[str, str], str] = {("to", "other"): "tensor", ("copy_", "src"): "other"}
"""(function, argument) to the argument's name in Python, where it differs from the schema's."""

PYTHON_DEFAULTS: dict[str, int] = {"reduction": 0}
"""Arguments whose default in Python differs from the schema's: functions called without it do not reduce their loss."""

DEPRECATED: dict[str, tuple[str, ...]] = {
    "add": ("self alpha other",),
    "sub": ("self alpha other",),
    "addcdiv": ("self value tensor1 tensor2",),
    "addcmul": ("self value tensor1 tensor2",),
    "addbmm": ("beta self alpha batch1 batch2", "beta self batch1 batch2"),
    "addmm": ("beta self alpha mat1 mat2", "beta self mat1 mat2"),
    "sspaddmm": ("beta self alpha mat1 mat2", "beta self mat1 mat2"),
    "addmv": ("beta self alpha mat vec", "beta self mat vec"),
    "addr": ("beta self alpha vec1 vec2", "beta self vec1 vec2"),
    "baddbmm": ("beta self alpha batch1 batch2", "beta self batch1 batch2"),
}
"""Old positional orders, by functional name; the in-place forms have them too. Accepted last, with a warning."""

DEPRECATED_WITHOUT_OUT: frozenset[str] = frozenset({"sspaddmm"})
"""Functions whose old forms have no `out=`."""

HIDDEN_OVERLOADS: frozenset[str] = frozenset(
    {"to.dtype_layout", *(f"{name}{form}.Scalar" for name in ("add", "sub", "mul", "div") for form in ("", "_"))}
)
"""Overloads that exist as `torch.ops.aten` only: in Python a number goes to the Tensor overload, and a layout nowhere."""

FUNCTION_ONLY_OVERLOADS: frozenset[str] = frozenset({"addmm.dtype", "baddbmm.dtype", "bmm.dtype", "mm.dtype"})
"""Overloads that the method of the same name does not have."""

FACTORY_LIKE: frozenset[str] = frozenset(
    {"_empty_per_channel_affine_quantized", "empty_quantized", "linspace", "logspace"}
)
"""Functions that take dtype, layout, device, pin_memory and requires_grad although they have Tensor parameters."""

NOT_FACTORIES: frozenset[str] = frozenset({"_nested_get_jagged_dummy"})
"""Functions that look like factories (a Tensor out of no Tensor) and take no such keywords."""

FULL_TYPE_NAMES: dict[tuple[str, str], str] = {
    ("torch", "Generator"): "torch._C.Generator",
    ("torch._C", "Generator"): "torch._C.Generator",
    **{
        ("torch", name): f"torch.{name}"
        for name in ("Size", "device", "dtype", "finfo", "iinfo", "layout", "memory_format", "qscheme")
    },
    ("torch.storage", "TypedStorage"): "torch.storage.TypedStorage",
    ("torch.storage", "UntypedStorage"): "torch.storage.UntypedStorage",
    ("torch", "UntypedStorage"): "torch.storage.UntypedStorage",
}
"""Classes that torch's messages call by their module too, because there they are extension types."""
