"""What tensors with masks do: tables of functions, and of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._conversions import _MaskedContiguous, _MaskedToDense, _MaskedToSparse, _MaskedToSparseCsr, _MaskedWhere
from .binary import NATIVE_BINARY_FNS, NATIVE_INPLACE_BINARY_FNS, _apply_native_binary
from .core import MaskedTensor, _get_data, _masks_match, _maybe_get_mask, is_masked_tensor
from .passthrough import PASSTHROUGH_FNS, _apply_pass_through_fn
from .reductions import NATIVE_REDUCE_FNS, TENSOR_REDUCE_FNS, TORCH_REDUCE_FNS, _apply_reduction
from .unary import NATIVE_INPLACE_UNARY_FNS, NATIVE_UNARY_FNS, _apply_native_unary

__all__: list[str] = []

_MASKEDTENSOR_FUNCTION_TABLE: dict[Any, Callable[..., Any]] = {}
"""Functions and methods of torch."""
_MASKEDTENSOR_DISPATCH_TABLE: dict[Any, Callable[..., Any]] = {}
"""Packets of `torch.ops`."""

_aten = torch.ops.aten
_Register = Callable[[Callable[..., Any]], Callable[..., Any]]


def _registers(table: dict[Any, Callable[..., Any]], ops: Sequence[Any]) -> _Register:
    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        for op in ops:
            table[op] = partial(func, op)
        return func

    return register


def register_function_func(ops: Sequence[Any]) -> _Register:
    """Return a decorator: calls of functions come to what it decorates, with the function first."""
    return _registers(_MASKEDTENSOR_FUNCTION_TABLE, ops)


def register_dispatch_func(aten_ops: Sequence[Any]) -> _Register:
    """Return a decorator: calls of operators come to what it decorates, with the packet first."""
    return _registers(_MASKEDTENSOR_DISPATCH_TABLE, aten_ops)


def _check_args_kwargs_length(
    args: Any, kwargs: Any, error_prefix: str, len_args: int | None = None, len_kwargs: int | None = None
) -> None:
    """Raise ValueError for another number of arguments."""
    if len_args is not None and len_args != len(args):
        raise ValueError(f"{error_prefix}: len(args) must be {len_args} but got {len(args)}")
    if len_kwargs is not None and len_kwargs != len(kwargs):
        raise ValueError(f"{error_prefix}: len(kwargs) must be {len_kwargs} but got {len(kwargs)}")


def _prefix(func: Any) -> str:
    return f"__torch_dispatch__, {func}"


def _check(func: Any, args: Any, kwargs: Any, len_args: int, len_kwargs: int | None = None) -> None:
    _check_args_kwargs_length(args, kwargs, _prefix(func), len_args, len_kwargs)


_REDUCTIONS = NATIVE_REDUCE_FNS + TORCH_REDUCE_FNS + TENSOR_REDUCE_FNS
register_function_func(_REDUCTIONS)(_apply_reduction)
register_dispatch_func(_REDUCTIONS)(_apply_reduction)
register_dispatch_func(PASSTHROUGH_FNS)(_apply_pass_through_fn)
register_dispatch_func(NATIVE_UNARY_FNS + NATIVE_INPLACE_UNARY_FNS)(_apply_native_unary)
register_dispatch_func(NATIVE_BINARY_FNS + NATIVE_INPLACE_BINARY_FNS)(_apply_native_binary)


@register_function_func([torch.Tensor.where, torch.where])
def _function_where(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check_args_kwargs_length(args, kwargs, "__torch_function__, torch.where", len_args=3, len_kwargs=0)
    return _MaskedWhere.apply(*args)


def _convert_with(conversion: Any) -> Callable[..., Any]:
    return lambda func, *args, **kwargs: conversion.apply(args[0])


register_function_func([torch.Tensor.contiguous])(_convert_with(_MaskedContiguous))
register_function_func([torch.Tensor.to_dense])(_convert_with(_MaskedToDense))
register_function_func([torch.Tensor.to_sparse])(_convert_with(_MaskedToSparse))
register_function_func([torch.Tensor.to_sparse_csr])(_convert_with(_MaskedToSparseCsr))


@register_dispatch_func([torch.ops.prim.layout])
def _layout(func: Any, *args: Any, **kwargs: Any) -> Any:
    return _get_data(args[0]).layout


def _of_geometry(name: str) -> Callable[..., Any]:
    """Return a question about the data's geometry, that of sparse data is refused by name."""

    def ask(func: Any, *args: Any, **kwargs: Any) -> Any:
        data = _get_data(args[0])
        if data.is_sparse:
            raise ValueError(f"MaskedTensors with sparse data do not have {name}")
        return getattr(data, name)(*args[1:], **kwargs)

    return ask


register_dispatch_func([_aten.is_contiguous])(_of_geometry("is_contiguous"))


@register_dispatch_func([_aten.sym_stride])
def _stride(func: Any, *args: Any, **kwargs: Any) -> Any:
    return None  # as the tensor has it


@register_dispatch_func([_aten.contiguous])
def _contiguous(func: Any, *args: Any, **kwargs: Any) -> Any:
    if _get_data(args[0]).is_sparse:
        raise ValueError("MaskedTensors with sparse data do not have contiguous")
    return _MaskedContiguous.apply(args[0])


@register_dispatch_func([_aten.new_empty_strided])
def _new_empty_strided(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 3)
    data = _get_data(args[0])
    for place, name in ((1, "size"), (2, "stride")):
        if tuple(args[place]) != tuple(getattr(data, name)()):
            raise ValueError(f"{_prefix(func)}: args[{place}] expected to be the same as data.{name}()")
    return MaskedTensor(func(data, args[1], args[2], **kwargs), _maybe_get_mask(args[0]))


@register_dispatch_func([_aten._local_scalar_dense])
def _number(func: Any, *args: Any, **kwargs: Any) -> Any:
    if not _maybe_get_mask(args[0]):
        raise ValueError(f"{_prefix(func)}: expected a mask tensor")
    return func(_get_data(args[0]))


@register_dispatch_func([_aten.detach, _aten.clone])
def _on_data(func: Any, *args: Any, **kwargs: Any) -> Any:
    return MaskedTensor(func(_get_data(args[0])), _maybe_get_mask(args[0]))


@register_dispatch_func([_aten._to_copy])
def _to_copy(func: Any, *args: Any, **kwargs: Any) -> Any:
    data = func(_get_data(args[0]), *args[1:], **kwargs)
    return MaskedTensor(data, func(_maybe_get_mask(args[0]), *args[1:], **{**kwargs, "dtype": torch.bool}))


@register_dispatch_func([_aten._softmax])
def _softmax(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 3, 0)
    mask = _maybe_get_mask(args[0])
    return MaskedTensor(_aten._masked_softmax(_get_data(args[0]), ~mask, args[1], 2), mask)


@register_dispatch_func([_aten._softmax_backward_data])
def _softmax_backward_data(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 4)
    grad, output, dim, _ = args
    if not (is_masked_tensor(grad) and is_masked_tensor(output)):
        raise ValueError(f"{_prefix(func)}: grad and output must both be MaskedTensors")
    if not _masks_match(grad, output):
        raise ValueError(f"{_prefix(func)}: expected the masks of grad and output to match")
    data, mask = _get_data(grad), _maybe_get_mask(grad)
    return MaskedTensor(_aten._masked_softmax_backward(data, _get_data(output), ~mask, dim % data.ndim), mask)


@register_dispatch_func([_aten.ones_like])
def _ones_like(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 1)
    return MaskedTensor(func(_get_data(args[0]), **kwargs), _maybe_get_mask(args[0]))


@register_dispatch_func([_aten.copy_])
def _copy_(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 2)
    if not _masks_match(args[0], args[1]):
        raise ValueError("args[0] mask and args[1] mask must match but do not")
    func(_get_data(args[0]), _get_data(args[1]))
    return args[0]


def _whole(tensor: Any) -> Any:
    """Return the tensor with its mask; one that hides nothing for a tensor without."""
    return tensor if is_masked_tensor(tensor) else MaskedTensor(tensor, torch.ones_like(tensor, dtype=torch.bool))


def _check_tensor(func: Any, args: Any, error: type[Exception]) -> None:
    if not torch.is_tensor(args[0]):
        raise error(f"{_prefix(func)}: expected args[0] to be a tensor")


@register_dispatch_func([_aten.where])
def _where(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 3, 0)
    _check_tensor(func, args, ValueError)
    one, other = _whole(args[1]), _whole(args[2])
    return MaskedTensor(
        func(args[0], one.get_data(), other.get_data()), func(args[0], one.get_mask(), other.get_mask())
    )


@register_dispatch_func([_aten._to_sparse, _aten._to_sparse_csr])
def _to_sparse(func: Any, *args: Any, **kwargs: Any) -> Any:
    by_rows = func is _aten._to_sparse_csr
    _check(func, args, kwargs, 1, 0)
    _check_tensor(func, args, ValueError if by_rows else TypeError)
    tensor = _whole(args[0])
    if tensor.is_sparse_csr() if by_rows else tensor.is_sparse_coo():
        return tensor
    mask = func(tensor.get_mask())
    mask = mask if by_rows else mask.coalesce()
    return MaskedTensor(_get_data(tensor).sparse_mask(mask), mask)


@register_dispatch_func([_aten._to_dense])
def _to_dense(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 1, 0)
    _check_tensor(func, args, ValueError)
    tensor = _whole(args[0])
    return MaskedTensor(func(_get_data(tensor)), func(tensor.get_mask()))


@register_dispatch_func([_aten._indices, _aten._values])
def _part(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 1, 0)
    data = _get_data(args[0])
    part = data.indices() if func is _aten._indices else data.values()
    return MaskedTensor(part, torch.ones_like(part).bool())


@register_dispatch_func([_aten._sparse_coo_tensor_with_dims_and_tensors])
def _of_parts(func: Any, *args: Any, **kwargs: Any) -> Any:
    *sizes, indices, values = (one.get_data() if is_masked_tensor(one) else one for one in args)
    mask = func(*sizes, indices, torch.ones_like(values), **kwargs).bool()
    return MaskedTensor(func(*sizes, indices, values, **kwargs), mask)


@register_dispatch_func([_aten.is_same_size])
def _is_same_size(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 2)
    return _get_data(args[0]).is_same_size(_get_data(args[1]))


@register_dispatch_func([_aten._is_any_true])
def _is_any_true(func: Any, *args: Any, **kwargs: Any) -> Any:
    _check(func, args, kwargs, 1, 0)
    data, mask = _get_data(args[0]), _maybe_get_mask(args[0])
    if mask is None:
        raise ValueError(f"{_prefix(func)}: expected args[0] to be a MaskedTensor")
    if data.dtype is not torch.bool:
        raise ValueError(f"{_prefix(func)}: expected a boolean tensor")
    if data.is_sparse:
        raise ValueError(f"MaskedTensors with sparse data do not have {func}")
    return MaskedTensor(func(data & mask), torch.tensor(True))


adopt(globals())
