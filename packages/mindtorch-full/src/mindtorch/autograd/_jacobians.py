"""Jacobians as older programs ask `torch.autograd.gradcheck` for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mindtorch_autograd.backward import grad
from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

from ._numerical import differentiable, numerical


def _iter_tensors(x: Any, only_requiring_grad: bool = False) -> Iterator[Any]:
    """The tensors in nested sequences, or those of them that require grad."""
    if isinstance(x, TensorBase):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, Iterable) and not isinstance(x, str):
        for one in x:
            yield from _iter_tensors(one, only_requiring_grad)


def _get_numerical_jacobian(
    fn: Callable[..., Any],
    inputs: Any,
    outputs: Any = None,
    target: Any = None,
    eps: float = 1e-3,
    is_forward_ad: bool = False,
) -> list[tuple[Any, ...]]:
    """For each tensor of `target` that requires grad, one matrix for each differentiable output."""

    def call() -> list[Any]:
        results = fn(*inputs)
        return [one for one in _iter_tensors(results) if differentiable(one)]

    count = len([one for one in _iter_tensors(outputs) if differentiable(one)]) if outputs is not None else len(call())
    wanted = inputs if target is None else target
    return [tuple(numerical(call, one, count, eps, imaginary=False)) for one in _iter_tensors(wanted, True)]


def _warn(name: str) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be a "
        "stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )


def _check_grad_out(name: str, grad_out: float) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Any, ...]:
    """For each input, the matrix of the first output by differences; `fn` takes its inputs as one tuple. Deprecated."""
    _warn("get_numerical_jacobian")
    _check_grad_out("get_numerical_jacobian", grad_out)
    found = _get_numerical_jacobian(lambda *given: fn(given), inputs, None, target, eps)
    return tuple(of_input[0] for of_input in found)


def _columns(output: Any, inputs: Sequence[Any]) -> tuple[list[Any], bool, bool]:
    """For each input the matrix by backward, and whether sizes and dtypes of all gradients are those of the inputs."""
    jacobians = [aten.zeros([one.numel(), output.numel()], dtype=one.dtype) for one in inputs]
    sizes_ok = types_ok = True
    for place in range(output.numel()):
        cotangent = aten.zeros([output.numel()], dtype=output.dtype)
        cotangent[place] = 1
        found = grad(output, inputs, cotangent.reshape(output.shape), retain_graph=True, allow_unused=True)
        for matrix, one, ref in zip(jacobians, found, inputs, strict=True):
            if one is None:
                continue
            types_ok = types_ok and one.dtype is ref.dtype
            if one.shape != ref.shape:
                sizes_ok = False
                continue
            matrix[:, place] = one.detach().reshape(-1)
    return jacobians, sizes_ok, types_ok


def get_analytical_jacobian(
    inputs: Any, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Any, ...], bool, bool, bool]:
    """The matrices by backward, and whether a second time gives the same, sizes are right, and dtypes. Deprecated."""
    _warn("get_analytical_jacobian")
    _check_grad_out("get_analytical_jacobian", grad_out)
    if output.dtype.is_complex:
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return "
            "complex outputs."
        )
    tracked = list(_iter_tensors(inputs, True))
    first, sizes_ok, types_ok = _columns(output, tracked)
    second, _, _ = _columns(output, tracked)
    same = all(not a.numel() or bool((a - b).abs().max() <= nondet_tol) for a, b in zip(first, second, strict=True))
    return tuple(first), same, sizes_ok, types_ok
