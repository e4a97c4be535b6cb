"""Making tensors with compressed rows or columns of tensors or Python data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.decomp.sparse_compressed import inferred_size
from mindtorch_dispatch.schema import parse_schema
from mindtorch_storage.dtype import int32, int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import layout_name, sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS
from mindtorch_storage.tensor_base import TensorBase

from .._overridable import as_given, make_overridable
from ..tensor.construction import from_data
from .sparse import checks_places

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]

_OPTIONS = (
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, "
    "bool requires_grad=False, bool? check_invariants=None"
)


def _parser(name: str, bounds: str, plain: str) -> ArgumentParser:
    parts = f"Any {bounds}, Any {plain}, Any values"
    forms = (f"{name}({parts}, int[] size, {_OPTIONS}) -> ()", f"{name}({parts}, {_OPTIONS}) -> ()")
    parser = ArgumentParser(name, [parse_schema(form) for form in forms])
    # The forms are tried in the order in which they are written.
    parser.signatures = tuple(sorted(parser.signatures, key=lambda one: one.index))
    return parser


def _function(name: str, wanted: Layout | None, bounds: str, plain: str, doc: str) -> Callable[..., Any]:
    parsers: list[ArgumentParser] = []

    def made(*args: Any, **kwargs: Any) -> Any:
        if not parsers:
            parsers.append(_parser(name, bounds, plain))
        parsed = parsers[0].parse(args, kwargs)
        values = list(parsed.values)
        size = None if len(values) == 9 else values.pop(3)
        given, (dtype, layout, device, _pinned, requires_grad, checked) = values[:3], values[3:]
        return _made(name, wanted, given, size, (dtype, layout, device), requires_grad, checked)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    return made


def _part(part: Any, dtype: Any, device: Any) -> Any:
    return part if isinstance(part, TensorBase) else from_data(part, dtype, device)


def _made(
    name: str,
    wanted: Layout | None,
    given: list[Any],
    size: Any,
    options: tuple[Any, Any, Any],
    requires_grad: bool,
    checked: bool | None,
) -> Any:
    """Return the tensor of a call whose arguments are parsed."""
    dtype, layout, device = options
    if wanted is not None and layout not in (None, wanted):
        raise RuntimeError(f"{name}: layout must be {layout_name(wanted)} but got {layout_name(layout)}")
    target = wanted or layout
    if target not in COMPRESSED_LAYOUTS:
        raise RuntimeError(f"{name} expected sparse compressed tensor layout but got {layout_name(target)}")
    values = _part(given[2], dtype, device)
    kind = next((one.dtype for one in given[:2] if isinstance(one, TensorBase) and one.dtype in (int32, int64)), int64)
    bounds, plain = (_part(part, kind, device) for part in given[:2])
    extents = inferred_size(target, bounds, plain, values) if size is None else list(size)
    if checks_places(checked):
        aten._validate_sparse_compressed_tensor_args(bounds, plain, values, extents, target)
    made = aten._sparse_compressed_tensor_unsafe(
        bounds, plain, values, extents, dtype=dtype, layout=target, device=device
    )
    return made.requires_grad_() if requires_grad and not made.requires_grad else made


_TEXT = """Return the tensor in the layout `{layout}` with these indices and values, of `size` or as large as they demand.

    `{bounds}` says where each {line} begins and ends among `{plain}` and `values`. What the indices must be is checked when
    `check_invariants` is true, or while `torch.sparse.check_sparse_tensor_invariants` is on. Source: aten::{name}.

    >>> import mindtorch as torch
    >>> torch.{name}({example}).to_dense()
    {result}
    """

_DENSE = "tensor([[1., 0.],\n            [0., 2.]])"
_ELEMENTS = "[0, 1, 2], [0, 1], [1.0, 2.0], (2, 2)"
_BLOCKS = "[0, 1], [0], [[[1.0, 0.0], [0.0, 2.0]]], (2, 2)"


def _doc(name: str, layout: str, bounds: str, plain: str, example: str) -> str:
    line = "row" if bounds.startswith("crow") else "column"
    line += " of blocks" if ".sparse_bs" in layout else ""
    return _TEXT.format(name=name, layout=layout, bounds=bounds, plain=plain, line=line, example=example, result=_DENSE)


def _of(layout: Layout, bounds: str, plain: str, example: str) -> Callable[..., Any]:
    name = str(layout).removeprefix("torch.") + "_tensor"
    return _function(name, layout, bounds, plain, _doc(name, str(layout), bounds, plain, example))


sparse_csr_tensor = _of(sparse_csr, "crow_indices", "col_indices", _ELEMENTS)
sparse_csc_tensor = _of(sparse_csc, "ccol_indices", "row_indices", _ELEMENTS)
sparse_bsr_tensor = _of(sparse_bsr, "crow_indices", "col_indices", _BLOCKS)
sparse_bsc_tensor = _of(sparse_bsc, "ccol_indices", "row_indices", _BLOCKS)
sparse_compressed_tensor = _function(
    "sparse_compressed_tensor",
    None,
    "compressed_indices",
    "plain_indices",
    _doc(
        "sparse_compressed_tensor",
        "layout",
        "compressed_indices",
        "plain_indices",
        f"{_ELEMENTS}, layout=torch.sparse_csr",
    ),
)

make_overridable(globals(), __all__, as_given)
