"""The `_copy` and in-place forms of views: the view's own formulas under torch's node names."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import NON_DIFFERENTIABLE, derivative, derivatives
from . import complex as _complex  # noqa: F401 (its rows are copied)
from . import view as _view  # noqa: F401 (its rows are copied)


def _narrow_back(grad: Tensor, self_spec: Spec, dim: int, start: int, length: int) -> Any:
    start = start + self_spec.shape[dim] if start < 0 else start
    return aten.slice_backward(grad, list(self_spec.shape), dim, start, start + length, 1)


def _like_view(name: str, view: str, node: str) -> None:
    source = derivatives[view]
    formulas: dict[str, Any] = {formula.arguments[0]: formula.fn for formula in source.formulas}
    derivative(name, NON_DIFFERENTIABLE if source.non_differentiable else None, node=node, **formulas)


for _name in (
    "alias", "view", "view.dtype", "expand", "permute", "transpose.int", "t", "unsqueeze", "squeeze", "squeeze.dim",
    "squeeze.dims", "select.int", "slice.Tensor", "as_strided", "unfold", "diagonal", "view_as_real", "view_as_complex",
    "unbind.int", "split.Tensor", "split_with_sizes",
):  # fmt: skip
    _packet, _, _overload = _name.partition(".")
    _like_view(f"{_packet}_copy" + (f".{_overload}" if _overload else ""), _name, f"{derivatives[_name].node}_copy")
derivative("narrow_copy", self=_narrow_back)
derivative("detach_copy", NON_DIFFERENTIABLE)

for _name, _node in (
    ("squeeze", "SqueezeBackward3"), ("squeeze.dim", "SqueezeBackward4"), ("squeeze.dims", "SqueezeBackward5"),
    ("unsqueeze", "UnsqueezeBackward1"), ("t", "TBackward1"), ("as_strided", "AsStridedBackward1"),
):  # fmt: skip
    _packet, _, _overload = _name.partition(".")
    _like_view(f"{_packet}_" + (f".{_overload}" if _overload else ""), _name, _node)
_like_view("transpose_", "transpose.int", "TransposeBackward1")
