"""Checks of `torch.autograd.functional`, with torch's texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

_STRICT = "This is not allowed in strict mode"
_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {}. " + _STRICT + ".",
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the "
    "double backward trick to compute forward mode gradients. " + _STRICT + ".",
    "double_back": "The jacobian of the user-provided function is independent of input {}. " + _STRICT + ".",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    + _STRICT
    + " as it prevents from using the double backward trick to replace forward mode AD.",
}
_FORWARD_ONLY_VECTORIZED = (
    "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
)
_NO_GRAD = {
    "hessian": "The hessian of the user-provided function with respect to input {} is independent of the input. "
    + _STRICT
    + ". You should ensure that your function is thrice differentiable and that the hessian depends on the inputs.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input "
    "{} is independent of the input. "
    + _STRICT
    + ". You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this "
    "would be violated by a linear function for example).",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided function. "
    + _STRICT
    + ".",
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
}


def as_tuple(value: Any, argument: str, function: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `value` was a tuple, and it as one; TypeError when something in it is no tensor."""
    many = isinstance(value, tuple)
    values = value if many else (value,)
    for index, one in enumerate(values):
        if not isinstance(one, TensorBase):
            what = f"value at index {index}" if many else f"given {argument}"
            raise TypeError(
                f"The {argument} given to {function} must be either a Tensor or a tuple of Tensors but the {what} has type "
                f"{type(one)}."
            )
    return many, values


def vector(v: Sequence[Any], other: Sequence[Any], several: bool) -> None:
    """Raise RuntimeError when `v` has not the structure of `other`."""
    if len(other) != len(v):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (have, want) in enumerate(zip(v, other, strict=True)):
        if want.size() != have.size():
            place = f"Entry {index} in " if several else ""
            raise RuntimeError(f"{place}v has invalid size: should be {want.size()} but got {have.size()}.")


def requires_grad(values: Sequence[Any], kind: str, strict: bool) -> None:
    """In strict mode raise RuntimeError for a value that is missing or has no history."""
    if not strict:
        return
    for index, one in enumerate(values):
        if one is None:
            raise RuntimeError(_INDEPENDENT["back"].format(index))
        if not one.requires_grad:
            raise RuntimeError(_NO_GRAD[kind].format(index))


def filled(found: Sequence[Any], refs: Sequence[Any], strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    """Return gradients with zeros for missing ones; in strict mode raise RuntimeError for those instead."""
    answers = []
    for index, (one, ref) in enumerate(zip(found, refs, strict=True)):
        if one is None:
            if strict:
                raise RuntimeError(_INDEPENDENT[stage].format(index))
            one = aten.zeros_like(ref)
        elif strict and create_graph and not one.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {index}. {_STRICT} when "
                "create_graph=True."
            )
        answers.append(one)
    return tuple(answers)


def jacobian_row(row: Any, index: int, strict: bool, create_graph: bool) -> None:
    """In strict mode raise RuntimeError for a row that cannot be differentiated although that was asked for."""
    if strict and create_graph and not row.requires_grad:
        raise RuntimeError(
            f"The jacobian of the user-provided function is independent of input {index}. {_STRICT} when create_graph=True."
        )


def single_number(outputs: Sequence[Any], several: bool, function: str) -> None:
    """Raise RuntimeError when the function under a Hessian returned anything but one number."""
    if several or len(outputs) != 1 or not isinstance(outputs[0], TensorBase):
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")


def strategy(name: str, function: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Raise torch's errors for combinations of options it has not."""
    assert name in ("forward-mode", "reverse-mode"), (
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
        'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
    )
    if name == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                f'torch.autograd.functional.{function}: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        if strict:
            raise RuntimeError(
                f'torch.autograd.functional.{function}: `strict=True` and `strategy="forward-mode"` are not supported '
                'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(_FORWARD_ONLY_VECTORIZED)
    if strict and vectorize:
        raise RuntimeError(
            f"torch.autograd.functional.{function}: `strict=True` and `vectorized=True` are not supported together. Please "
            "either set `strict=False` or `vectorize=False`."
        )


def outer_strategy(name: str) -> None:
    """Raise torch's error for an outer strategy of `hessian` that it has not."""
    assert name in ("forward-mode", "reverse-mode"), 'Expected strategy to be either "forward-mode" or "reverse-mode".'
