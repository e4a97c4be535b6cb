"""Gradients of operators of `torch._custom_op`: what a program saves and the dict of gradients that it gives."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.utils import _pytree as pytree

__all__: list[str] = []


def autograd_kernel_indirection(custom_op: Any) -> Callable[..., Any]:
    """Return the Autograd kernel: the formula, once both its parts are there; until then it refuses gradients."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        parts = [part for part in ("save_for_backward", "backward") if custom_op._has_impl(part)]
        if len(parts) == 2:
            return _with_formula(custom_op, args)
        if parts:
            missing = "backward" if parts == ["save_for_backward"] else "save_for_backward"
            raise RuntimeError(
                f"We found a '{parts[0]}' registration for {custom_op} at {custom_op._get_impl(parts[0]).location} but were "
                f"unable to find a '{missing}' registration. To use the CustomOp API to register a backward formula, please "
                "provide us both a backward function and a 'save for backward' function via `impl_backward` and "
                "`impl_save_for_backward` respectively."
            )
        if torch.is_grad_enabled() and pytree.tree_any(_requires_grad, (args, kwargs)):
            raise RuntimeError("Autograd has not been implemented for operator")
        with torch._C._AutoDispatchBelowAutograd():
            return custom_op(*args, **kwargs)

    return kernel


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _named(custom_op: Any, values: Any) -> Any:
    """Return the arguments by name."""
    schema = custom_op._schema
    return namedtuple(f"{schema.name.rpartition('::')[2]}_args", [one.name for one in schema.arguments])(*values)


def _with_formula(custom_op: Any, args: Any) -> Any:
    """Return the operator of the arguments, recorded with the formula of the program."""
    flat, spec = pytree.tree_flatten(args)
    made: dict[str, Any] = {}

    def forward(ctx: Any, *flat: Any) -> Any:
        given = pytree.tree_unflatten(list(flat), spec)
        with torch._C._AutoDispatchBelowAutograd():
            output = custom_op._overload(*given)
        ctx.kinds = _named(custom_op, pytree.tree_map(type, given))
        _save(ctx, custom_op._get_impl("save_for_backward").func(_named(custom_op, given), output))
        _mark(ctx, output, custom_op._output_differentiability)
        flat_output, made["spec"] = pytree.tree_flatten(output)
        return tuple(flat_output)

    def backward(ctx: Any, *grads: Any) -> Any:
        given = pytree.tree_unflatten(list(grads), made["spec"])
        given = given if isinstance(given, tuple) else (given,)
        found = custom_op._get_impl("backward").func(object(), _saved(ctx), *given)
        _check_gradients(custom_op, found, ctx.kinds)
        parts = [
            found[name] if name in found else pytree.tree_map(lambda _: None, kind)
            for name, kind in ctx.kinds._asdict().items()
        ]
        return tuple(pytree.tree_leaves(parts))

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    node = type(f"{custom_op._opname}_customop", (torch.autograd.Function,), members)
    return pytree.tree_unflatten(list(node.apply(*flat)), made["spec"])


def _save(ctx: Any, values: Any) -> None:
    flat, ctx.spec = pytree.tree_flatten(values)
    ctx.save_for_backward(*[one for one in flat if isinstance(one, torch.Tensor)])
    ctx.others = [None if isinstance(one, torch.Tensor) else (one,) for one in flat]


def _saved(ctx: Any) -> Any:
    tensors = iter(ctx.saved_tensors)
    return pytree.tree_unflatten([next(tensors) if one is None else one[0] for one in ctx.others], ctx.spec)


def _mark(ctx: Any, output: Any, differentiable: list[bool] | None) -> None:
    """Mark the outputs that have no gradient; RuntimeError where one that is no tensor is said to have one."""
    if differentiable is None:
        return
    hidden: list[Any] = []
    for place, (has, one) in enumerate(
        zip(differentiable, output if isinstance(output, tuple) else (output,), strict=True)
    ):
        if isinstance(one, torch.Tensor | list):
            hidden += [] if has else one if isinstance(one, list) else [one]
        elif has:
            raise RuntimeError(
                f"With output_differentiability={differentiable}. At idx {place}, we received an object of type {type(one)} "
                "that is not a Tensor, so it cannot have be marked as differentiable in output_differentiability."
            )
    if hidden:
        ctx.mark_non_differentiable(*hidden)


def _check_gradients(custom_op: Any, found: Any, kinds: Any) -> None:
    """Raise torch's RuntimeError for a result of a backward that is no dict of the gradients of the tensors."""

    def refuse(what: str) -> None:
        place = custom_op._get_impl("backward").location
        raise RuntimeError(
            f"In the backward function defined for {custom_op} at {place} using the CustomOp API, {what}"
        )

    if not isinstance(found, dict):
        refuse(f"expected the output of the backward function to be a dict but got {type(found)}")
    wanted = {one.name for one in custom_op._schema.arguments if one.type.kind == "Tensor"}
    if wanted != found.keys():
        refuse(
            f"expected the returned grad_input dict to have keys {wanted} but got {found.keys()}. The backward function must "
            "return a gradient (can be None) for each arg to the CustomOp that may be a Tensor or Sequence[Tensor]. Args "
            "declared to be non-Tensor-like types should not appear in the grad_input dict"
        )
    for name, grad in found.items():
        kind = getattr(kinds, name)
        if isinstance(kind, list):
            _check_list(refuse, name, grad, kind)
        elif grad is not None and not isinstance(grad, torch.Tensor):
            refuse(
                f"got object of type {type(grad)} as the gradient for input '{name}', but expected the gradient to be either "
                "None or a Tensor"
            )
        elif grad is not None and not issubclass(kind, torch.Tensor):
            refuse(
                f"got a Tensor as the gradient for input '{name}' but expected None as the gradient because input '{name}' "
                f"was not a Tensor (it was type {kind})."
            )


def _check_list(refuse: Callable[[str], None], name: str, grads: Any, kinds: list[type]) -> None:
    said = f"for input '{name}' expected the grad_input dict to hold a list of "
    if not isinstance(grads, tuple | list):
        refuse(f"{said}gradients but got object of type {type(grads)}.")
    if len(grads) != len(kinds):
        refuse(f"{said}{len(kinds)} gradients but got {len(grads)}")
    for place, (grad, kind) in enumerate(zip(grads, kinds, strict=True)):
        if grad is None:
            continue
        if not isinstance(grad, torch.Tensor):
            refuse(f"{said}None or Tensor gradients but got object of {type(grad)} at index {place}")
        if not issubclass(kind, torch.Tensor):
            refuse(
                f"for input '{name}', got a Tensor as the gradient for the {place}-th value but expected None because the "
                f"{place}-th value was not a Tensor (it was type {kinds}"
            )


adopt(globals())
