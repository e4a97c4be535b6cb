"""The planner's second stage: whose function answers a call."""

from __future__ import annotations

from mindtorch_storage.quantized import QuantizedSpec

from ..errors import missing_registration
from ..execute import fallback
from ..execute.arrays import array_types
from ..extend.boxing import boxed
from ..extend.registry import registry
from ..interface.autograd import hooks
from ..keys import DispatchKey
from ..override.interception import ask_python
from ..quantized.table import no_quantized_kernel, quantized_kernel
from ..sparse.table import no_compressed_kernel, no_gradient, no_sparse_kernel, sparse_kernel, without_gradient
from ..table import RowKind, kernels
from ..typing import Tensor
from .call import Call
from .composite import compose, packed
from .numbers import of_numbers
from .pinning import asks_for_pinning, pinned
from .results import packing
from .targets import check_out_grad

_REAL_AS_IT_IS = frozenset({"conj_physical"})
"""Functions that give a real operand itself, without a copy, and record nothing of it."""


def choose_kernel(call: Call) -> None:
    """Choose what stands first for the call's keys; NotImplementedError of torch where nothing answers."""
    if call.intercepted:
        ask_python(call)
    elif call.device.type == "cpu" and asks_for_pinning(call.bound):
        call.function = pinned(call.bound)
    else:
        _follow_keys(call)
    if call.composed is not None:
        compose(call)
    elif call.registered is not None:
        call.function = boxed(call.bound, call.registered, call.keys)


def _itself(self: Tensor) -> Tensor:
    return self


def _choose_sparse(call: Call) -> None:
    """Take the kernel for sparse tensors, else what the op is composed of.

    Where a gradient has to flow, a kernel is recorded as one node with the formula of the op, which dense tensors have.
    """
    row = call.row
    call.function = sparse_kernel(row, call.compressed)
    if call.bound.out is not None and hasattr(call.function, "into"):
        check_out_grad(row, call.outs, call.tensors)
        call.composed, call.function = call.function, None
        return
    if call.bound.out is not None or (call.function is None and row.composite is None):
        raise no_compressed_kernel(row, call.tensors) if call.compressed else no_sparse_kernel(row)
    if call.function is None:
        call.composed = row.composite
    elif DispatchKey.Autograd in call.keys:
        if row.kind is RowKind.INPLACE:
            raise no_gradient()
        known = hooks.has_formula(row) or hooks.has_no_gradient(row)
        call.composed, call.function = call.function if known else without_gradient(call.function), None


def _choose_quantized(call: Call) -> None:
    """Take the kernel for quantized tensors, else what the op is composed of. No gradient reaches integers."""
    row = call.row
    function = quantized_kernel(row)
    if call.bound.out is not None or (function is None and row.composite is None):
        raise no_quantized_kernel(row)
    returns = row.schema.returns
    if function is None:
        call.composed = row.composite
    elif row.kind is not RowKind.INPLACE and (len(returns) != 1 or returns[0].type.is_list):
        pack = packing(row, (), overload=call.bound.overload)
        assert pack is not None, row.name  # it has several results
        call.function = packed(function, pack)
    else:
        call.function = function


def _follow_keys(call: Call) -> None:
    """Take a registered kernel, else the one for sparse tensors, else the device's, else what the op is composed of."""
    row = call.row
    call.registered = registry.resolve(row, call.keys) if call.bound.out is None else None
    if call.registered is not None:
        return
    call.composed = of_numbers(call)
    if call.composed is not None:
        return
    if row.name in _REAL_AS_IT_IS and call.bound.out is None and not call.tensors[0].dtype.is_complex:
        call.function = _itself
        return
    if DispatchKey.Sparse in call.keys:
        _choose_sparse(call)
        return
    if DispatchKey.Quantized in call.keys or any(type(out._sig.spec) is QuantizedSpec for out in call.outs):
        _choose_quantized(call)
        return
    place = call.device.type
    if place == "cpu" and getattr(row.meta, "mixed_devices", False):  # copies from a device are the device's, too
        place = next((t.device.type for t in call.tensors if t.device.type in array_types), place)
    call.kernel = kernels[place].get((row.base or row).name)
    if call.kernel is not None and call.kernel.takes is not None and not call.kernel.takes(*call.bound.values):
        call.kernel = None
    if call.kernel is None:
        call.composed = row.composite
        if call.composed is None and fallback.takes(row, call.device, call.bound.values):
            call.composed = fallback.function(row, call.device)
        if call.composed is None and row.meta is None:
            raise missing_registration(row, call.tensors, call.device)
