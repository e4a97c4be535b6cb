"""The Autograd kernels of operators: one node per call, made of a backward and of what saves values for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.function import Function
from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.state import exclude_keys, state
from mindtorch_storage.tensor_base import TensorBase

_BELOW = DispatchKeySet([DispatchKey.Autograd])


class GradientRule:
    """What a program said of an operator's backward; both parts may be missing."""

    def __init__(self, backward: Callable[..., Any] | None, setup_context: Callable[..., Any] | None) -> None:
        self.backward = backward
        self.setup_context = setup_context


def _tensors(values: Sequence[Any]) -> list[TensorBase]:
    found: list[TensorBase] = []
    for value in values:
        found.extend(one for one in (value if isinstance(value, (list, tuple)) else (value,)) if _is_tensor(one))
    return found


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TensorBase)


def autograd_kernel(op: OpOverload, rule: GradientRule) -> Callable[..., Any]:
    """Return the kernel of the Autograd key: it records a node where one is needed and calls the operator below."""
    declared = op.declared.arguments
    positional = [one for one in declared if not one.kwarg_only]
    keyword_only = [one for one in declared if one.kwarg_only]

    def below(args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with exclude_keys(_BELOW):
            return op(*args, **kwargs)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        wanted = state.mode.grad and any(tensor._sig.requires_grad for tensor in _tensors((*args, *kwargs.values())))
        if not wanted:
            return below(args, kwargs)
        given = [*args, *(_default(one.default) for one in positional[len(args) :])]
        named = {one.name: kwargs.get(one.name, _default(one.default)) for one in keyword_only}
        node = _node(op, rule, given, named, below)
        flat = [item for value in given for item in (value if _is_listed(value) else (value,))]
        return _as_returned(op, node.apply(*flat, None))

    return kernel


def _default(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _is_listed(value: Any) -> bool:
    """Whether a value is handed to the node item by item: a list that holds a tensor."""
    return isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value)


def _as_returned(op: OpOverload, result: Any) -> Any:
    returns = op.declared.returns
    if len(returns) == 1 and returns[0].type.is_list:
        return list(result) if isinstance(result, tuple) else [result]
    return result


def _node(
    op: OpOverload,
    rule: GradientRule,
    given: list[Any],
    named: dict[str, Any],
    below: Callable[[Sequence[Any], dict[str, Any]], Any],
) -> Any:
    """Return the Function class of one call. Lists of tensors reach the engine item by item.

    The last argument, which nobody reads, makes a formula's surplus gradient the error that it is in torch.
    """
    lengths = [len(value) if _is_listed(value) else None for value in given]

    def forward(ctx: Any, *flat: Any) -> Any:
        args = _joined(flat[:-1], lengths)
        result = below(args, named)
        output = tuple(result) if isinstance(result, list) else result
        if rule.setup_context is not None:
            if named:
                rule.setup_context(ctx=ctx, inputs=tuple(args), keyword_only_inputs=named, output=result)
            else:
                rule.setup_context(ctx=ctx, inputs=tuple(args), output=result)
        return output

    def backward(ctx: Any, *grads: Any) -> Any:
        if rule.backward is None:
            raise RuntimeError(
                f"Trying to backward through {op} but no autograd formula was registered. Please use register_autograd "
                "to add one."
            )
        returns = op.declared.returns
        listed = len(returns) == 1 and returns[0].type.is_list
        answer = rule.backward(ctx, list(grads)) if listed else rule.backward(ctx, *grads)
        answers = _split(answer if isinstance(answer, tuple) else (answer,), lengths)
        return (*answers, None)

    name = f"GeneratedBackwardFor_{op.namespace}_{op._opname}_{op._overloadname}"
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def _joined(flat: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    values, position = [], 0
    for length in lengths:
        if length is None:
            values.append(flat[position])
            position += 1
        else:
            values.append(list(flat[position : position + length]))
            position += length
    return values


def _split(given: tuple[Any, ...], lengths: Sequence[int | None]) -> tuple[Any, ...]:
    """Return a backward's answer item by item; RuntimeError where a list of tensors has no list of gradients."""
    if all(length is None for length in lengths) or len(given) != len(lengths):
        return given
    flat: list[Any] = []
    for value, length in zip(given, lengths, strict=True):
        if length is None:
            flat.append(value)
        elif value is None:
            flat.extend([None] * length)
        elif isinstance(value, (list, tuple)) and len(value) == length:
            flat.extend(value)
        else:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs: a list of "
                f"{length} gradients for a list of {length} tensors, got {type(value).__name__}"
            )
    return tuple(flat)


def check_setup(op: OpOverload, setup_context: Callable[..., Any] | None) -> None:
    """Raise torch's RuntimeError for an operator with keyword-only tensors, which have no gradient."""
    for one in op.declared.arguments:
        if one.kwarg_only and one.type.kind == "Tensor":
            raise NotImplementedError(
                f"register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
                f"tensors not kwarg-only. Got: {op._schema}"
            )
    if setup_context is not None and not callable(setup_context):
        raise TypeError(f"setup_context must be callable, got {type(setup_context)}")
