"""The decorator under which libraries write translations for the exporter."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.onnx import TensorProtoDataType

__all__ = ["parse_args"]

_Kind = TensorProtoDataType
cast_pytorch_to_onnx = {
    "Byte": _Kind.UINT8,
    "Char": _Kind.INT8,
    "Double": _Kind.DOUBLE,
    "Float": _Kind.FLOAT,
    "Half": _Kind.FLOAT16,
    "Int": _Kind.INT32,
    "Long": _Kind.INT64,
    "Short": _Kind.INT16,
    "Bool": _Kind.BOOL,
    "ComplexFloat": _Kind.COMPLEX64,
    "ComplexDouble": _Kind.COMPLEX128,
    "BFloat16": _Kind.BFLOAT16,
    "Undefined": _Kind.UNDEFINED,
}
"""TorchScript's names of element types, and the format's numbers of them."""


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that notes how the exporter is to pass each argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return function

    return decorate


adopt(globals())
