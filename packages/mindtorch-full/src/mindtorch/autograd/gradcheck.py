"""`torch.autograd.gradcheck`: gradients against central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch_autograd.backward import grad
from mindtorch_autograd.graph import GradientEdge
from mindtorch_dispatch.call import aten
from mindtorch_storage.dtype import complex128, float64
from mindtorch_storage.layout import strided
from mindtorch_storage.tensor_base import TensorBase

from .._naming import adopt
from ._batched_check import backward_problem, forward_problem
from ._directional import (
    Differences,
    Directions,
    backward_failure,
    forward_failure,
    weighted_backward,
    weighted_backward_again,
)
from ._forward_check import (
    IMAGINARY,
    Failure,
    as_list,
    differences_along,
    failure,
    jacobian,
    parts,
    results_of,
    tangents_along,
    tracked_numbers,
    tracked_of,
)
from ._jacobians import (
    _get_numerical_jacobian as _get_numerical_jacobian,
)
from ._jacobians import (
    _iter_tensors as _iter_tensors,
)
from ._jacobians import (
    get_analytical_jacobian,
    get_numerical_jacobian,
)
from ._mismatch import NOT_REENTRANT, mismatch, recomputed
from ._numerical import analytical, flat_tensors, numerical, outputs_of
from ._sparse_inputs import is_sparse, with_numbers, zero_problem
from ._undefined_check import undefined_problem

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient is wrong; what `gradcheck` raises."""


class _Options:
    """Tolerances and switches of one check."""

    def __init__(self, **given: Any) -> None:
        self.eps: float = given["eps"]
        self.atol: float = given["atol"]
        self.rtol: float = given["rtol"]
        self.nondet_tol: float = given["nondet_tol"]
        self.check_undefined_grad: bool = given["check_undefined_grad"]
        self.check_grad_dtypes: bool = given["check_grad_dtypes"]
        self.check_batched_grad: bool = given["check_batched_grad"]
        self.check_batched_forward_grad: bool = given["check_batched_forward_grad"]
        self.check_forward_ad: bool = given["check_forward_ad"]
        self.check_backward_ad: bool = given["check_backward_ad"]
        self.fast_mode: bool = given["fast_mode"]
        self.masked: bool = bool(given["masked"])

    def close(self, first: Any, second: Any, slack: float = 1.0) -> bool:
        """True when two matrices agree within the tolerances, the absolute one multiplied by `slack`."""
        if first.dtype is not second.dtype:
            wide = complex128 if first.dtype.is_complex or second.dtype.is_complex else float64
            first, second = first.to(wide), second.to(wide)
        return bool(aten.allclose(first, second, self.rtol, self.atol * slack))


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Return True when the gradients of `func` at `inputs` agree with central differences.

    Every element is checked, in `fast_mode` one random direction per input and weighting per output. Raises
    GradcheckError (or returns False with `raise_exception=False`) with torch's text otherwise, ValueError when there is
    nothing to check.

    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert not (check_batched_grad and not check_backward_ad), (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert not (check_batched_forward_grad and not check_forward_ad), (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    options = _Options(
        eps=eps, atol=atol, rtol=rtol, nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip
    if raise_exception:
        return _check(func, inputs, options)
    try:
        return _check(func, inputs, options)
    except GradcheckError:
        return False


def _check(func: Callable[..., Any], inputs: Any, options: _Options) -> bool:
    inputs = (inputs,) if isinstance(inputs, (TensorBase, GradientEdge)) else tuple(inputs)
    _check_inputs(inputs)
    result = func(*inputs)
    outputs = outputs_of(result)
    _check_outputs(result)
    targets = flat_tensors(inputs)
    if not outputs:
        return _check_no_differentiable_outputs(func, inputs, targets, options)
    of_numbers, numbers = with_numbers(func, inputs, options.masked)
    whole = result if numbers is inputs else of_numbers(*numbers)
    _check_jacobians(of_numbers, numbers, whole, flat_tensors(numbers), options)
    if options.check_batched_forward_grad:
        _raise(forward_problem(torch._vmap_internals._vmap, func, inputs, targets))
    if not options.check_backward_ad:
        return True
    if options.check_batched_grad:
        _raise(backward_problem(outputs, targets))
    _raise(zero_problem(outputs, targets))
    if options.check_undefined_grad:
        _raise(undefined_problem(func, inputs, targets, len(outputs)))
    return True


def _raise(problem: str | None) -> None:
    if problem is not None:
        raise GradcheckError(problem)


def _check_inputs(inputs: Sequence[Any]) -> None:
    tensors = [one for one in _all_tensors(inputs)]
    if not any(one.requires_grad for one in tensors):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for index, one in enumerate(tensors):
        if not one.requires_grad:
            continue
        if one.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if one.layout is not strided:
            continue
        if any(step == 0 and extent > 1 for step, extent in zip(one.stride(), one.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping "
                "to be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )
        one.retain_grad()


def _all_tensors(values: Any) -> list[Any]:
    if isinstance(values, TensorBase):
        return [values]
    return [one for item in values for one in _all_tensors(item)] if isinstance(values, (list, tuple)) else []


def _check_outputs(result: Any) -> None:
    for one in result if isinstance(result, (list, tuple)) else (result,):
        if one is None:
            raise ValueError(
                "Expected all outputs to be Tensors, but found None. gradcheck can not handle None outputs; return only "
                "tensors."
            )
        if is_sparse(one):
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of fn "
                "for gradcheck."
            )


def _check_no_differentiable_outputs(func: Any, inputs: Any, targets: Sequence[Any], options: _Options) -> bool:
    def call() -> list[Any]:
        return results_of(func, inputs)

    count = len(call())
    if options.fast_mode:
        directions = Directions(targets, ()).inputs
        found = [
            differences_along(func, inputs, target, direction, options.eps)
            for target, direction in zip(targets, directions, strict=True)
        ]
    else:
        found = [numerical(call, target, count, options.eps, False) for target in targets]
    if any(one is not None and bool((one.abs() > 0).any()) for matrices in found for one in matrices):
        raise GradcheckError("Numerical gradient for function expected to be zero")
    return True


def _check_jacobians(func: Any, inputs: Any, result: Any, targets: Sequence[Any], options: _Options) -> None:
    differences = None
    outputs = outputs_of(result)
    if options.fast_mode:
        differences = Differences(func, inputs, targets, Directions(targets, outputs), options.eps)
    if options.check_backward_ad:
        complex_outputs = any(one.dtype.is_complex for one in outputs)
        for imaginary in (True, False) if complex_outputs else (False,):
            part = f"While considering the {'imaginary' if imaginary else 'real'} part of complex outputs only, "
            _compare_backward(func, inputs, result, targets, options, differences, imaginary, part * complex_outputs)
    if options.check_forward_ad:
        _compare_forward(func, inputs, targets, options, differences)


def _compare_backward(
    func: Any,
    inputs: Any,
    result: Any,
    targets: Sequence[Any],
    options: _Options,
    differences: Differences | None,
    imaginary: bool,
    prefix: str,
) -> None:
    def call() -> list[Any]:
        return results_of(func, inputs)

    outputs, every = outputs_of(result), as_list(result)
    numbers, count = tracked_of(every), len(every)
    if differences is None:
        by_input = [numerical(call, target, count, options.eps, imaginary) for target in targets]
        for number, output in enumerate(outputs):
            if output.dtype.is_complex or not imaginary:
                expected = [matrices[numbers[number]] for matrices in by_input]
                _compare(output, number, expected, targets, options, imaginary, prefix)
        return
    differences.complete()
    passes = weighted_backward(outputs, differences, imaginary)
    for first, second in weighted_backward_again(passes, targets):
        _check_reentrant(first, second, options)
    failed = backward_failure(passes, numbers, differences, imaginary, options.close)
    if failed is not None:
        want = numerical(call, targets[failed[1]], count, options.eps, imaginary)[numbers[failed[0]]]
        have = _analytical_twice(outputs[failed[0]], targets, imaginary, options)[failed[1]]
        raise GradcheckError(prefix + mismatch(failed) + recomputed(have, want))


def _compare(
    output: Any, number: int, expected: Any, targets: Any, options: _Options, imaginary: bool, prefix: str
) -> None:
    found = _analytical_twice(output, targets, imaginary, options)
    for place, (want, have) in enumerate(zip(expected, found, strict=True)):
        if want is not None and not options.close(have, want):
            raise GradcheckError(prefix + mismatch((number, place, want, have)))


def _analytical_twice(output: Any, targets: Sequence[Any], imaginary: bool, options: _Options) -> list[Any]:
    found, again = (analytical(output, targets, imaginary) for _ in range(2))
    for have, second in zip(found, again, strict=True):
        _check_reentrant(have, second, options)
    return found


def _check_reentrant(first: Any, second: Any, options: _Options) -> None:
    """Raise torch's error when two backward passes with the same gradients gave different results."""
    if bool(((first - second).abs() > options.nondet_tol).any()):
        raise GradcheckError(NOT_REENTRANT.format(options.nondet_tol))


def _compare_forward(
    func: Any, inputs: Any, targets: Sequence[Any], options: _Options, differences: Differences | None
) -> None:
    numbers = tracked_numbers(func, inputs)
    for imaginary in parts(targets):
        prefix = IMAGINARY if imaginary else ""
        if differences is None:
            failed = failure(func, inputs, targets, imaginary, options.eps, options.close)
            more = ""
        else:
            failed = forward_failure(numbers, differences, imaginary, options.close)
            more = "" if failed is None else _whole(func, inputs, targets, failed, imaginary, options.eps)
        if failed is not None:
            raise GradcheckError(prefix + mismatch(failed, "computed with forward mode ") + more)


def _whole(func: Any, inputs: Any, targets: Sequence[Any], failed: Failure, imaginary: bool, eps: float) -> str:
    number, place = tracked_numbers(func, inputs)[failed[0]], failed[1]
    have = jacobian(tangents_along, func, inputs, targets[place], number, imaginary)
    want = jacobian(differences_along, func, inputs, targets[place], number, imaginary, eps)
    return recomputed(have, want)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Return True when the gradients of the gradients of `func` agree with central differences; errors as `gradcheck`.

    `check_fwd_over_rev` differentiates the gradients in forward mode.

    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert not (check_undefined_grad and not check_rev_over_rev), (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    assert not (check_batched_grad and not check_rev_over_rev), (
        "Setting check_batched_grad=True requires check_rev_over_rev to be True"
    )
    inputs = (inputs,) if isinstance(inputs, (TensorBase, GradientEdge)) else tuple(inputs)
    if grad_outputs is None:
        outputs = outputs_of(func(*inputs))
        weights = tuple(_weight(one, gen_non_contig_grad_outputs) for one in outputs)
    else:
        weights = (grad_outputs,) if isinstance(grad_outputs, TensorBase) else tuple(grad_outputs)
    count = len(weights)

    def gradients(*given: Any) -> tuple[Any, ...]:
        arguments, cotangents = given[: len(given) - count], given[len(given) - count :]
        _track_as(arguments, inputs)
        targets = [one for one in flat_tensors(arguments) if one.requires_grad]
        found = grad(outputs_of(func(*arguments)), targets, cotangents, create_graph=True, allow_unused=True)
        return tuple(one for one in found if one is not None)

    return gradcheck(
        gradients, (*inputs, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _track_as(values: Any, models: Any) -> None:
    """Let tensors require grad where their models do: dual tensors come without."""
    if isinstance(models, TensorBase):
        if models.requires_grad and not values.requires_grad:
            values.requires_grad_()
    elif isinstance(models, (list, tuple)):
        for value, model in zip(values, models, strict=True):
            _track_as(value, model)


def _weight(output: Any, non_contiguous: bool) -> Any:
    """Return a gradient between -1 and 1; as many numbers are drawn as torch draws, so that those after it are torch's."""
    dtype = output.dtype if output.dtype.is_floating_point or output.dtype.is_complex else float64
    return torch.testing.make_tensor(
        output.shape, dtype=dtype, device=output.device, low=-1, high=1, requires_grad=True, noncontiguous=non_contiguous,
    )  # fmt: skip


adopt(globals())
