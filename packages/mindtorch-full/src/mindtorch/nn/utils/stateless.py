"""Calls of a module with other parameters and buffers than its own."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils._named_member_accessor import NamedMemberAccessor

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The former place of ``torch.func.functional_call``.

    >>> layer = torch.nn.Linear(2, 1, bias=False)
    >>> torch.nn.utils.stateless.functional_call(
    ...     layer, {"weight": torch.tensor([[1.0, 10.0]])}, torch.ones(1, 2)
    ... ).detach()
    tensor([[11.]])
    """
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Return ``module(*args, **kwargs)`` with the given tensors, by dotted name, in place of its own.

    Tensors that the module shares between names are replaced under all of them unless ``tie_weights=False``.
    """
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Tensor], *, tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Put the given tensors into ``module`` for the block; what the block makes of them goes into the dictionary."""
    given = _untied(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_names(module, given)
    accessor = NamedMemberAccessor(module)
    own, _ = accessor.swap_tensors_dict(given, allow_missing=True)
    try:
        yield
    finally:
        made, _ = accessor.swap_tensors_dict(own, allow_missing=True)
        parameters_and_buffers.update({name: made[name] for name in parameters_and_buffers})


def _members(module: Module) -> dict[str, Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _check_names(module: Module, given: dict[str, Tensor]) -> None:
    own = _members(module)
    unexpected = sorted(name for name in given if name not in own)
    missing = sorted(name for name in own if name not in given)
    if not (unexpected or missing):
        return
    message = f"Error(s) in reparametrizing for {module._get_name()}:"
    if unexpected:
        message += "\n\tUnexpected key(s): " + ", ".join(map(repr, unexpected)) + "."
    if missing:
        message += "\n\tMissing key(s): " + ", ".join(map(repr, missing)) + "."
    raise RuntimeError(message)


def _untied(module: Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return ``given`` with an entry for every name that shares a tensor with a given one."""
    groups: dict[int, set[str]] = {}
    for name, tensor in _members(module).items():
        groups.setdefault(id(tensor), set()).add(name)
    tied = [group for group in groups.values() if len(group) > 1]
    result = dict(given)
    for group in tied:
        names = group.intersection(given)
        if not names:
            continue
        first = given[min(names)]
        if any(given[name] is not first for name in names):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for name in group:
            result[name] = first
    return result


adopt(globals())
