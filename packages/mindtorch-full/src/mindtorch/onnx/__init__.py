"""`torch.onnx`: what libraries import of it and register with it. Nothing is exported: `export` raises.

Exporting stands on a translation of every operator into the format's, which is not here. What is registered for the exporter
is checked and kept, so that libraries that register translations when they are imported can be imported.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.onnx import errors
from mindtorch.onnx.errors import OnnxExporterError

__all__ = ["OnnxExporterError", "errors", "export", "is_in_onnx_export"]

_OPERATOR = re.compile(r"[a-zA-Z0-9_]+::[a-zA-Z_][a-zA-Z0-9_]*")
_translations: dict[tuple[str, int], Callable[..., Any]] = {}


class TrainingMode(enum.IntEnum):
    """The state of a module while it is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.IntEnum):
    """What is written for operators that the format lacks."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


TensorProtoDataType = enum.IntEnum(
    "TensorProtoDataType",
    "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 "
    "BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ",
    start=0,
)
"""The format's numbers of element types."""


def export(
    model: Any,
    args: tuple[Any, ...] = (),
    f: Any = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Any = None,
    output_names: Any = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: Any = None,
    custom_translation_table: Any = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: Any = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Any = None,
    training: TrainingMode = TrainingMode.EVAL,
    operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
    do_constant_folding: bool = True,
    custom_opsets: Any = None,
    export_modules_as_functions: Any = False,
    autograd_inlining: bool = True,
) -> NoReturn:
    """Raise OnnxExporterError: models are not exported."""
    raise OnnxExporterError("torch.onnx.export: MindTorch does not export models to ONNX; export them with PyTorch")


def is_in_onnx_export() -> bool:
    """Return False: no export is ever under way.

    >>> torch.onnx.is_in_onnx_export()
    False
    """
    return False


def _checked(symbolic_name: str) -> str:
    if not _OPERATOR.fullmatch(symbolic_name):
        raise OnnxExporterError(
            f"Failed to register operator {symbolic_name}. The symbolic name must match the format domain::name, and "
            "should start with a letter and contain only alphanumeric characters"
        )
    return symbolic_name


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int) -> None:
    """Keep how an operator is written in a version of the format; OnnxExporterError for what is no operator's name."""
    _translations[_checked(symbolic_name), opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget how an operator is written."""
    _translations.pop((_checked(symbolic_name), opset_version), None)


adopt(globals())
