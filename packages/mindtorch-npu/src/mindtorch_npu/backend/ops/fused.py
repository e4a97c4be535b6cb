"""What transformers are made of, in one launch each way: dropout, root mean square norm, gated units, rotary positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.extend import devices
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.dtypes import code_of
from mindtorch_npu.backend.ops.lists import FLOATS, exists
from mindtorch_npu.backend.ops.random import draw, is_recorded, launch_drawing
from mindtorch_npu.backend.register import written

MODES = {"half": 0, "0": 0, "interleave": 1, "1": 1}
WIDEST = 896
"""Sizes of heads below it have rotary positions in one launch."""
_UNSHARED = {(True, False, False), (True, True, True)}
"""Which dimensions of cosines may not be the only ones of one element: no layout of heads has such."""


def _alike(*tensors: Any) -> bool:
    """Return whether tensors have elements, of one type that these operators take, on one device."""
    first = tensors[0]._sig.spec
    return first.np_dtype.name in FLOATS and all(
        one._sig.spec.np_dtype == first.np_dtype and one._sig.spec.device == first.device and one._sig.spec.numel
        for one in tensors
    )


def _taken(name: str, count: int) -> Callable[..., bool]:
    """Return what takes a call's values: its first `count` tensors of one type, where there is the operator."""
    return lambda *values: _alike(*values[:count]) and exists(name)


_BY_MASKS = ("aclnnDropoutGenMask", "aclnnDropoutDoMask")
"""What chips without dropout in one launch have: one makes the mask, one applies it."""


def takes_dropout(self: Any, *rest: object) -> bool:
    """Return whether elements are dropped by the vendor's operators, in one launch or two."""
    if not _alike(self):
        return False
    return exists("aclnnDropout") or all(map(exists, _BY_MASKS))


def _dropout(outs: Sequence[DeviceArray], self: DeviceArray, p: float) -> None:
    out, mask = outs
    if exists("aclnnDropout") and not is_recorded(self, None):
        launch("aclnnDropout", [self, float(p), True, *draw(self, None), out, mask])
        return
    if is_recorded(self, None):
        before, after = [list(self.shape), float(p)], [code_of(np.dtype(np.float32)), mask]
        launch_drawing("aclnnDropoutGenMask", before, self, None, after, recorded="aclnnDropoutGenMaskV2Tensor")
    else:
        launch("aclnnDropoutGenMask", [list(self.shape), float(p), *draw(self, None), mask])
    launch("aclnnDropoutDoMask", [self, mask, float(p), out])


def _takes_dropout_backward(grad: Any, *rest: object) -> bool:
    return _alike(grad) and (exists("aclnnDropoutBackward") or exists("aclnnDropoutDoMask"))


def _dropout_backward(out: DeviceArray, grad: DeviceArray, mask: DeviceArray, p: float) -> None:
    if exists("aclnnDropoutBackward"):
        launch("aclnnDropoutBackward", [grad, mask, 0.0 if p == 1 else 1.0 / (1.0 - p), out])
    else:
        launch("aclnnDropoutDoMask", [grad, mask, float(p), out])


def _rms_norm(outs: Sequence[DeviceArray], self: DeviceArray, gamma: DeviceArray, epsilon: float) -> None:
    launch("aclnnRmsNorm", [self, gamma, float(epsilon), *outs])


def _rms_norm_backward(outs: Sequence[DeviceArray], *given: DeviceArray) -> None:
    dy, self, gamma, rstd = given
    launch("aclnnRmsNormGrad", [dy, self, rstd, gamma, *outs])


def _takes_norm_backward(dy: Any, self: Any, gamma: Any, rstd: Any) -> bool:
    deep = self._sig.spec.ndim > 1 and gamma._sig.spec.ndim < 8  # the operator wants a dimension beside those of gamma
    return deep and _alike(dy, self, gamma) and rstd._sig.spec.ndim < 8 and exists("aclnnRmsNormGrad")


def _add_rms_norm(
    outs: Sequence[DeviceArray], x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, epsilon: float
) -> None:
    launch("aclnnAddRmsNorm", [x1, x2, gamma, float(epsilon), *outs])


def _swiglu(out: DeviceArray, self: DeviceArray, dim: int) -> None:
    launch("aclnnSwiGlu", [self, dim, out])


def _swiglu_backward(out: DeviceArray, grad: DeviceArray, self: DeviceArray, dim: int) -> None:
    launch("aclnnSwiGluGrad", [grad, self, dim, out])


def _takes_rotary(name: str, x: Any, cos: Any, sin: Any, mode: str) -> bool:
    if not _alike(x, cos, sin) or mode not in MODES or not exists(name):
        return False
    shape, cosines = tuple(x._sig.spec.shape), tuple(cos._sig.spec.shape)
    if len(shape) != 4 or len(cosines) != 4 or cosines != tuple(sin._sig.spec.shape) or shape[3] != cosines[3]:
        return False
    if shape[3] % 2 or shape[3] >= WIDEST or any(c not in (1, n) for c, n in zip(cosines, shape, strict=True)):
        return False
    shared = tuple(c == 1 != n for c, n in zip(cosines[:3], shape[:3], strict=True))
    return shared not in _UNSHARED and (MODES[mode] == 0 or cosines[:3].count(1) >= 2)


def _rotary(out: DeviceArray, x: DeviceArray, cos: DeviceArray, sin: DeviceArray, mode: str) -> None:
    launch("aclnnRotaryPositionEmbedding", [x, cos, sin, MODES[mode], out])


def _rotary_backward(
    outs: Sequence[DeviceArray], grad: DeviceArray, x: DeviceArray, cos: DeviceArray, sin: DeviceArray, mode: str
) -> None:
    launch("aclnnRotaryPositionEmbeddingGrad", [grad, cos, sin, x, MODES[mode], *outs])


GROUPED = "aclnnGroupedMatmulV4"
_ONE_RESULT = 3
"""All groups' rows in one tensor."""


def _takes_grouped(*values: Any) -> bool:
    """Return whether there is the operator, for matrices of one type and groups of whole numbers of 64 bits."""
    return _alike(*values[:2]) and values[2]._sig.spec.np_dtype == np.int64 and exists(GROUPED)


def _grouped(
    out: DeviceArray, x: DeviceArray, weight: DeviceArray, group_list: DeviceArray, group_type: int, list_type: int
) -> None:
    rows = x.packed()
    if group_type == 2:  # groups of the inner dimension: the first matrix lies turned
        rows = DeviceArray(rows.storage, rows.shape[::-1], rows.dtype, rows.steps[::-1], rows.offset)
    quantised: list[Any] = [None] * 6
    how = [_ONE_RESULT, group_type, list_type, 0]
    launch(
        GROUPED, [[rows], [weight.packed()], *quantised, group_list.packed(), None, None, None, *how, [out], None, None]
    )


written("npu::_npu_grouped_product", "GroupedMatmulV4", _grouped, _takes_grouped)
written("npu::_npu_dropout", "Dropout", _dropout, takes_dropout)
written("npu::npu_dropout_backward", "DropoutBackward", _dropout_backward, _takes_dropout_backward)
written("npu::npu_rms_norm", "RmsNorm", _rms_norm, _taken("aclnnRmsNorm", 2))
written("npu::npu_rms_norm_backward", "RmsNormGrad", _rms_norm_backward, _takes_norm_backward)
written("npu::npu_add_rms_norm", "AddRmsNorm", _add_rms_norm, _taken("aclnnAddRmsNorm", 3))
written("npu::npu_swiglu", "SwiGlu", _swiglu, _taken("aclnnSwiGlu", 1))
written("npu::npu_swiglu_backward", "SwiGluGrad", _swiglu_backward, _taken("aclnnSwiGluGrad", 2))
written(
    "npu::npu_rotary_mul",
    "RotaryPositionEmbedding",
    _rotary,
    lambda x, cos, sin, mode: _takes_rotary("aclnnRotaryPositionEmbedding", x, cos, sin, mode),
)
written(
    "npu::npu_rotary_mul_backward",
    "RotaryPositionEmbeddingGrad",
    _rotary_backward,
    lambda grad, x, cos, sin, mode: (
        _alike(grad, x) and _takes_rotary("aclnnRotaryPositionEmbeddingGrad", x, cos, sin, mode)
    ),
)
devices.in_one_kernel["npu"] = {"dropout": takes_dropout, "rms_norm": _taken("aclnnRmsNorm", 2)}
