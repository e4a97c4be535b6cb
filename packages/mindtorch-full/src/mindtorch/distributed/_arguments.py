"""What the functions of `torch.distributed` check, and how complex tensors and subclasses reach a group."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import mindtorch
from mindtorch.distributed._recorded import recorded
from mindtorch.distributed._reduce_op import ReduceOp
from mindtorch.overrides import handle_torch_function, has_torch_function
from mindtorch_autograd.function import recorder

_NOT_OF_COMPLEX = (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT, ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def supports_complex(reduceOp: object) -> bool:
    """Return whether a reduction is that of the real and imaginary parts.

    >>> import torch.distributed as dist
    >>> from torch.distributed.distributed_c10d import supports_complex
    >>> supports_complex(dist.ReduceOp.SUM), supports_complex(dist.ReduceOp.MAX)
    (True, False)
    """
    return reduceOp not in _NOT_OF_COMPLEX


def _check_single_tensor(param: object, param_name: str) -> None:
    if not isinstance(param, mindtorch.Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{param_name}` of type torch.Tensor\n"
            f"             but got {type(param)} instead."
        )


def _check_tensor_list(param: object, param_name: str) -> None:
    text = f"Invalid function argument. Expected parameter `{param_name}` of type List[torch.Tensor]\n"
    if not isinstance(param, list):
        raise TypeError(f"{text}             but got {type(param)} instead.")
    if not all(isinstance(p, mindtorch.Tensor) for p in param):
        kinds = [type(p) for p in param]
        raise TypeError(f"{text}             but got {type(param)} with elements of type {kinds}.")


def _ensure_all_tensors_same_dtype(*tensors: Any) -> None:
    last = None
    for tensor in itertools.chain.from_iterable(t if isinstance(t, list) else (t,) for t in tensors):
        dtype = tensor.dtype
        if dtype.is_complex:  # complex numbers and their parts go together
            dtype = mindtorch.float32 if dtype == mindtorch.complex64 else mindtorch.float64
            if tensor.dtype != mindtorch.complex64:
                dtype = mindtorch.complex128
        if last is not None and last != dtype:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {last} and  {tensor.dtype}")
        last = dtype


def real(tensor: mindtorch.Tensor) -> mindtorch.Tensor:
    """A complex tensor's parts, which are its memory; any other tensor as it is."""
    return mindtorch.view_as_real(tensor) if tensor.is_complex() else tensor


def reals(tensors: Iterable[mindtorch.Tensor]) -> list[mindtorch.Tensor]:
    """`real` of all."""
    return [real(tensor) for tensor in tensors]


def overridable(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let `__torch_function__` of the argument `name`, a tensor or a list of them, carry a function out."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        code = function.__code__
        place = code.co_varnames[: code.co_argcount].index(name)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if recorder.apply is not None and recorded(function, args, kwargs):
                return None
            value = args[place] if place < len(args) else kwargs.get(name)
            relevant = tuple(value) if isinstance(value, (list, tuple)) else (value,)
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def finished(work: Any, async_op: bool) -> Any:
    """The work for those who wait themselves; otherwise None, after it is done."""
    if async_op:
        return work
    if work is not None:
        work.wait()
    return None
