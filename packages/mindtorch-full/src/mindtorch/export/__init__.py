"""`torch.export`: modules as graphs of operators, for the sizes of one call or sizes that vary."""

from mindtorch._naming import adopt
from mindtorch.export._archive_reader import load
from mindtorch.export._archive_writer import save
from mindtorch.export._dataclasses import register_dataclass
from mindtorch.export._export import export
from mindtorch.export.decomp_utils import CustomDecompTable
from mindtorch.export.dynamic_shapes import Dim, dims
from mindtorch.export.exported_program import (
    ExportedProgram,
    ModuleCallEntry,
    ModuleCallSignature,
    default_decompositions,
)
from mindtorch.export.graph_signature import ExportBackwardSignature, ExportGraphSignature

__all__ = [
    "CustomDecompTable",
    "Dim",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "ExportedProgram",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "default_decompositions",
    "dims",
    "export",
    "load",
    "register_dataclass",
    "save",
]

adopt(globals())
