"""`functional_call` and `stack_module_state`: modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten

from ..nn.utils.stateless import _functional_call


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with its parameters and buffers replaced by those given, and put its own back.

    Args:
        parameter_and_buffer_dicts: name to tensor, or a sequence of such dicts without common names.
        args: one argument or a tuple of them.
        tie_weights: whether names that share a parameter are all replaced when one is.
        strict: whether missing and unknown names raise RuntimeError.

    >>> torch.func.functional_call(torch.nn.Linear(1, 1),
    ...     {"weight": torch.tensor([[2.]]), "bias": torch.tensor([1.])}, (torch.tensor([3.]),)).item()
    7.0
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        given = _merged(parameter_and_buffer_dicts)
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def _merged(dicts: Sequence[Any]) -> dict[str, Any]:
    if not all(isinstance(one, dict) for one in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for one in dicts for name in one]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: value for one in dicts for name, value in one.items()}


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (parameters, buffers) of modules of one kind, stacked by name along a new first dimension.

    Raises RuntimeError for no models, models in different modes or of different types.

    >>> models = [torch.nn.Linear(2, 3) for _ in range(4)]
    >>> parameters, buffers = torch.func.stack_module_state(models)
    >>> parameters["weight"].shape
    torch.Size([4, 3, 2])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(model.training for model in models) or all(not model.training for model in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(model) is type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = {
        name: _stacked([dict(m.named_parameters())[name] for m in models]) for name, _ in models[0].named_parameters()
    }
    buffers = {name: _stacked([dict(m.named_buffers())[name] for m in models]) for name, _ in models[0].named_buffers()}
    return params, buffers


def _stacked(tensors: Sequence[Any]) -> Any:
    if all(one.requires_grad for one in tensors):
        return aten.stack([one.detach() for one in tensors]).requires_grad_()
    if not any(one.requires_grad for one in tensors):
        return aten.stack(list(tensors))
    raise RuntimeError("Expected parameters from each model to have the same .requires_grad")
