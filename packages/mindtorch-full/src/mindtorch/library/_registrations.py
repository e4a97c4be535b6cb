"""What a program may register for an operator that exists: kernels, geometry, backward, casts, handlers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ._batching import register_rule
from ._casts import casting_kernel
from ._custom import CustomOpDef, check_functional, definition_of
from ._gradients import GradientRule, autograd_kernel, check_setup
from ._libraries import Library, impl, library_for
from ._names import check_qualname, declared, key_of_device, name_of


def _definition(op: Any) -> CustomOpDef | None:
    if isinstance(op, CustomOpDef):
        return op
    return (
        definition_of(op if isinstance(op, str) else op.name()) if isinstance(op, str) or hasattr(op, "name") else None
    )


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """Give an operator a kernel for device types, None for all of them; a decorator without `func`."""
    name = name_of(op, "register_kernel")
    custom = _definition(op)
    if custom is not None:
        return custom.register_kernel(device_types, func) if func is not None else custom.register_kernel(device_types)
    return impl(name, "default" if device_types is None else device_types, func, lib=lib)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Give an operator its geometry rule, which the meta device uses; a decorator without `func`.

    >>> torch.library.define("docs::rows", "(Tensor x) -> Tensor")
    >>> @torch.library.register_fake("docs::rows")
    ... def rows(x):
    ...     return x.new_empty(x.shape[0])
    >>> torch.ops.docs.rows(torch.ones(2, 3, device="meta")).shape
    torch.Size([2])
    """
    name = name_of(op, "register_fake")
    custom = _definition(op)

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        if custom is not None and allow_override:
            return custom.register_fake(fn)
        chosen = library_for(check_qualname(name)[0], lib=lib)
        chosen._register_fake(name, fn, allow_override=allow_override)
        return fn

    return register if func is None else register(func)


def impl_abstract(
    qualname: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None, _stacklevel: int = 1
) -> Any:
    """The older name of `register_fake`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.library.define("docs::shaped", "(Tensor x) -> Tensor")
    >>> @torch.library.impl_abstract("docs::shaped")
    ... def _(x):
    ...     return x.new_empty(7)
    >>> torch.ops.docs.shaped(torch.ones(2, device="meta")).shape
    torch.Size([7])
    """
    warnings.warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use that instead; we will "
        "remove `torch.library.impl_abstract` in a future version of PyTorch.",
        FutureWarning,
        stacklevel=2,
    )
    return register_fake(qualname, func, lib=lib)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Give an operator its backward: `backward(ctx, *grads)`, with `setup_context(ctx, inputs, output)` to save values.

    Torch's RuntimeError for an operator that writes its arguments or returns views of them.
    """
    name = name_of(op, "register_autograd")
    custom = _definition(op)
    if custom is not None:
        custom.register_autograd(backward, setup_context=setup_context)
        return
    overload = declared(name)
    check_functional(overload, overload)
    check_setup(overload, setup_context)
    kernel = autograd_kernel(overload, GradientRule(backward, setup_context))
    library_for(overload.namespace, lib=lib).impl(name, kernel, "Autograd", allow_override=True)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> Any:
    """Have an operator's floating-point inputs cast to a dtype where autocast is on for a device type.

    >>> @torch.library.custom_op("docs::halves", mutates_args=())
    ... def halves(x: torch.Tensor) -> torch.Tensor:
    ...     return x / 2
    >>> _ = torch.library.register_autocast("docs::halves", "cpu", torch.bfloat16)
    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     print(halves(torch.ones(1)))
    tensor([0.5000], dtype=torch.bfloat16)
    """
    name = name_of(op, "register_autocast")
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    key = key_of_device(device_type, "Autocast")
    custom = _definition(op)
    if custom is not None:
        return custom.register_autocast(device_type, cast_inputs)
    overload = declared(name)
    kernel = casting_kernel(overload, device_type, cast_inputs)
    library_for(overload.namespace, lib=lib).impl(name, kernel, key, allow_override=True)
    return None  # as torch, which returns the kernel of a custom operator alone


def register_torch_dispatch(
    op: Any, torch_dispatch_class: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Make a function handle an operator for a class with `__torch_dispatch__` or a mode; a decorator without `func`.

    A tensor's type gives `func(func, types, args, kwargs)`, a mode's `func(mode, func, types, args, kwargs)`.

    >>> @torch.library.custom_op("docs::tripled", mutates_args=())
    ... def tripled(x: torch.Tensor) -> torch.Tensor:
    ...     return 3 * x
    >>> class Watched(torch.Tensor):
    ...     pass
    >>> from torch.utils._python_dispatch import TorchDispatchMode
    >>> class Mode(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         return func(*args, **(kwargs or {}))
    >>> @torch.library.register_torch_dispatch("docs::tripled", Mode)
    ... def _(mode, func, types, args, kwargs):
    ...     return torch.tensor(-1.0)
    >>> with Mode():
    ...     print(tripled(torch.ones(1)))
    tensor(-1.)
    """
    name = name_of(op, "register_torch_dispatch")

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        library_for(check_qualname(name)[0], lib=lib)._register_torch_dispatch_rule(name, torch_dispatch_class, fn)
        return fn

    return register if func is None else register(func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Give an operator its batching rule; a decorator without `func`.

    >>> @torch.library.custom_op("docs::plus", mutates_args=())
    ... def plus(x: torch.Tensor) -> torch.Tensor:
    ...     return x + 1
    >>> torch.library.register_vmap("docs::plus", lambda info, in_dims, x: (plus(x), in_dims[0]))
    >>> torch.vmap(plus)(torch.zeros(2))
    tensor([1., 1.])
    """
    name = name_of(op, "register_vmap")
    row = declared(name).row

    def register(function: Callable[..., Any]) -> None:
        register_rule(row, function)

    return register if func is None else register(func)
