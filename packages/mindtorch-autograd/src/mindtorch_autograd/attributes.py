"""`grad_fn._saved_<name>` and `grad_fn._raw_saved_<name>`: what a node shows of the values it keeps.

Names and forms are torch's: results are called as the op's schema calls them, integers are shown without sign, a number at
a tensor's place is a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import complex128, float64, int64
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from .node import OpNode
from .recording import SaveKind
from .saved import SavedTensor, freed_error, unpack

SHOWN = {
    "AddBackward0": "alpha",
    "AddbmmBackward0": "batch1_sym_argsize_0 batch1_sym_argsize_1 batch2_sym_argsize_2",
    "AddmmBackward0": "mat1_sym_strides mat2_sym_strides",
    "ConvolutionBackward0": "bias_sym_sizes_opt",
    "EmbeddingBackward0": "weight_sym_argsize_0",
    "EmbeddingBagBackward0": "weight_sym_argsize_0",
    "ExpandBackward0": "self_sym_sizes",
    "ExpandBackward0_copy": "self_sym_sizes",
    "GatherBackward0": "sparse_grad",
    "Im2ColBackward0": "self_sym_argsize_minus_1 self_sym_argsize_minus_2",
    "LinalgLuBackward0": "pivot",
    "LinalgLuFactorExBackward0": "pivot",
    "LinalgSvdBackward0": "full_matrices",
    "LuUnpackBackward0": "LU_data_sym_argsize_minus_1 LU_data_sym_argsize_minus_2",
    "MeanBackward0": "self_sym_numel",
    "MeanBackward1": "self_sym_numel",
    "MmBackward0": "mat2_sym_strides self_sym_strides",
    "NormalBackward1": "mean_sym_sizes",
    "NormalBackward3": "mean_sym_sizes std_sym_sizes",
    "SqueezeBackward1": "dim",
    "SqueezeBackward1_copy": "dim",
    "SqueezeBackward2": "dim",
    "SqueezeBackward4": "dim",
    "SubBackward0": "alpha",
    "UnsqueezeBackward0": "dim",
    "UnsqueezeBackward0_copy": "dim",
    "UnsqueezeBackward1": "dim",
}
"""By node: what torch's formulas save and ours do without, where it costs nothing."""

HIDDEN = {
    "AsStridedBackward0": "self_offset self_sym_sizes",
    "AsStridedBackward0_copy": "self_offset self_sym_sizes",
    "AsStridedScatterBackward0": "self_sym_sizes src_sym_sizes",
    "BlockDiagBackward0": "tensors_sym_sizes",
    "CatBackward0": "tensors_sym_sizes",
    "ConvolutionBackward0": "bias_sym_sizes",
    "CopyBackwards": "src_sym_sizes",
    "CummaxBackward0": "self_sym_sizes",
    "CumminBackward0": "self_sym_sizes",
    "DiagonalScatterBackward0": "src_sym_sizes",
    "EmbeddingBackward0": "weight_sym_sizes",
    "EmbeddingBagBackward0": "weight_sym_sizes",
    "ErfinvBackward0": "result",
    "FftR2CBackward0": "self_sym_sizes",
    "GatherBackward0": "self_sym_sizes",
    "Im2ColBackward0": "self_sym_sizes",
    "IndexAddBackward0": "source_sym_sizes",
    "IndexCopyBackward0": "source_sym_sizes",
    "IndexPutBackward0": "values_sym_sizes",
    "LdexpBackward0": "self",
    "LinalgEigBackward0": "self_sym_sizes",
    "LinalgEighBackward0": "compute_v",
    "LinalgSolveExBackward0": "B_sym_sizes",
    "LogSoftmaxBackward0": "self_sym_sizes",
    "Logaddexp2Backward0": "result",
    "LogaddexpBackward0": "result",
    "LuUnpackBackward0": "LU_data_sym_sizes",
    "MaskedSelectBackward0": "self_sym_sizes",
    "MaxPool2DWithIndicesBackwardBackward0": "self_sym_sizes",
    "NativeLayerNormBackward0": "eps",
    "PutBackward0": "source_sym_sizes",
    "SafeSoftmaxBackward0": "self_sym_sizes",
    "SelectScatterBackward0": "src_sym_sizes",
    "SliceScatterBackward0": "src_sym_sizes",
    "SoftmaxBackward0": "self_sym_sizes",
    "SoftmaxBackwardDataBackward0": "input_dtype",
    "TakeBackward0": "self_sym_sizes",
    "ToCopyBackward0": "self_sym_sizes",
    "UnbindBackward0": "self_sym_sizes",
    "UnbindBackward0_copy": "self_sym_sizes",
    "UnsqueezeBackward0": "self_sym_sizes",
    "UnsqueezeBackward0_copy": "self_sym_sizes",
    "UnsqueezeBackward1": "self_sym_sizes",
}
"""By node: what our formulas keep and torch's do not show."""


def geometry(spec: Spec, what: str) -> Any:
    """Return a part of a geometry: `sizes`, `strides`, `numel`, or the extent `argsize_0`, `argsize_minus_1`."""
    if what in ("sizes", "sizes_opt"):
        return tuple(spec.shape)
    if what == "strides":
        return tuple(spec.stride)
    if what == "numel":
        return spec.numel
    place = what.removeprefix("argsize_")
    return spec.shape[-int(place.removeprefix("minus_")) if place.startswith("minus_") else int(place)]


def _fields(recorder: Any) -> dict[str, str]:
    """Return the formula's names of results by the names that the schema gives them."""
    return {
        returned.name: f"result{number}"
        for number, returned in enumerate(recorder.row.schema.returns)
        if returned.name
    }  # fmt: skip


def names(recorder: Any) -> list[str]:
    """Return the attributes that nodes of this recorder have."""
    named = {place: name for name, place in _fields(recorder).items()}
    tensors = _tensors(recorder)
    found = set()
    for name in {*recorder.places, *recorder.arguments}:
        if ":" not in name:
            found.add(f"{name[:-5]}_sym_sizes" if name.endswith("_spec") else named.get(name, name))
    found -= set(HIDDEN.get(recorder.cls.__name__, "").split())
    raw = [f"_raw_saved_{name}" for name in found if name in tensors]
    return [*(f"_saved_{name}" for name in found), *raw]


def _tensors(recorder: Any) -> set[str]:
    schema = recorder.row.schema
    arguments = {argument.name for argument in schema.arguments if argument.type.kind == "Tensor"}
    return (
        arguments | {"result"} | {f"result{number}" for number in range(len(schema.returns))} | set(_fields(recorder))
    )


def _missing(node: OpNode, name: str) -> AttributeError:
    return AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


def _find(node: OpNode, name: str, prefix: str) -> tuple[Any, int | None]:
    """Return (constant, None) or (kind, index in `_saved`) of the saved value called `name`."""
    recorder = node._recorder
    fields = _fields(recorder)
    if name in fields.values() or f"{prefix}{name}" not in names(recorder):
        raise _missing(node, f"{prefix}{name}")
    name = fields.get(name, name)
    place = recorder.places.get(name)
    if place is None:
        return None, None
    for index, save in enumerate(recorder.saves):
        if save.place == place:
            return save.kind, 2 * index
    return recorder.environment[place], None


def saved(node: OpNode, name: str) -> Any:
    """Return the value saved under `name`, as `grad_fn._saved_<name>`; AttributeError, or torch's error when freed."""
    recorder = node._recorder
    spec = f"{name.removesuffix('_sym_sizes')}_spec"
    if name.endswith("_sym_sizes") and name not in recorder.places:
        if f"_saved_{name}" not in names(recorder):
            raise _missing(node, f"_saved_{name}")
        place = recorder.places.get(spec)
        have = None if place is None else recorder.environment[place]
        return tuple(have.shape) if isinstance(have, Spec) else ()
    found, index = _find(node, name, "_saved_")
    if index is None:
        return _shown(recorder, name, found)
    if node._saved is None:
        raise freed_error()
    item, version = node._saved[index : index + 2]
    if version is None:
        return _shown(recorder, name, item)
    if version.__class__ is list:
        return tuple(None if one is None else unpack(node, one, at) for one, at in zip(item, version, strict=True))
    return unpack(node, item, version, True)


def _shown(recorder: Any, name: str, value: Sequence[int] | float | None) -> Any:
    """Return a saved value that is no tensor as torch shows it."""
    argument = next((one for one in recorder.row.schema.arguments if one.name == name), None)
    if argument is None or value is None or isinstance(value, TensorBase):
        return value
    kind = argument.type.kind
    if kind == "Tensor" and isinstance(value, (bool, int, float, complex)):
        dtypes = {bool: bool_dtype, int: int64, float: float64, complex: complex128}
        return aten.scalar_tensor(value, dtype=dtypes[type(value)])
    if kind in ("int", "SymInt"):
        if isinstance(value, (list, tuple)):
            return tuple(_unsigned(one) for one in value)
        return (_unsigned(value),) if argument.type.is_list else _unsigned(value)
    return tuple(value) if isinstance(value, list) else value


def _unsigned(value: object) -> Any:
    return value + 2**64 if isinstance(value, int) and value < 0 else value


def raw(node: OpNode, name: str) -> Any:
    """Return the holder of the tensor saved under `name`, as `grad_fn._raw_saved_<name>`."""
    kind, index = _find(node, name, "_raw_saved_")
    if index is None or kind not in (SaveKind.TENSOR, SaveKind.RESULT, SaveKind.LIST):
        return SavedTensor(node, ([None, None], 0))
    if node._saved is None:
        return SavedTensor(node, ([None], 0))
    if kind is SaveKind.LIST:
        return tuple(SavedTensor(node, (node._saved[index], number)) for number in range(len(node._saved[index])))
    return SavedTensor(node, (node._saved, index))
