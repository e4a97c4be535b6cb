"""`custom_op`: a Python function as an operator, with its kernels, geometry rule, backward and casts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch_dispatch.extend.key_names import EXPLICIT
from mindtorch_dispatch.schema import Schema
from mindtorch_dispatch.schema.diagnosis import diagnose
from mindtorch_dispatch.table.tags import Tag, read_tags
from mindtorch_storage.tensor_base import TensorBase

from ._batching import register_rule
from ._casts import casting_kernel
from ._gradients import GradientRule, autograd_kernel, check_setup
from ._inference import infer_schema
from ._libraries import Library
from ._names import declared, is_functional, key_of_device
from ._names import device_types as listed

_libraries: dict[str, Library] = {}
_definitions: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """A custom operator: call it, and register what it does on devices, on fake tensors and in backward."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any], tags: Any = None) -> None:
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._init_fn = fn
        self._kernels: dict[str, Callable[..., Any]] = {}
        self._disabled: set[str] = set()
        self._gradients = GradientRule(None, None)
        self._casts: dict[str, Any] = {}
        before = _libraries.pop(self._qualname, None)
        if before is not None:
            before._destroy()
        self._lib = Library(namespace, "FRAGMENT")
        self._lib.define(name + schema, tags=[Tag.pt2_compliant_tag, *(read_tags(tags) if tags is not None else ())])
        problem = diagnose(self._qualname)
        if problem is not None and not problem.startswith("Tried to parse"):
            self._lib._destroy()
            raise RuntimeError(problem)
        _libraries[self._qualname], _definitions[self._qualname] = self._lib, self
        self._opoverload = declared(self._qualname)
        entry = self._opoverload.row.__dict__["entry"]
        entry.missing_fake = (
            f"There was no fake impl registered for {self}. This is necessary for torch.compile/export/fx tracing to work. "
            f"Please use `{fn.__name__}.register_fake` to add an fake impl."
        )
        self._lib.impl(name, autograd_kernel(self._opoverload, self._gradients), "Autograd")
        if _only_writes(self._opoverload.declared):
            self._lib._register_fake(name, _describe_nothing)

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Give the operator a kernel for device types, None for all; a decorator without `fn`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            chosen: Sequence[str | None] = [None] if device_types is None else listed(device_types)
            for one in chosen:
                key = EXPLICIT if one is None else key_of_device(one)
                self._check_device_argument(one)
                known = key in self._kernels
                self._kernels[key] = function
                if not known:
                    self._lib.impl(self._name, self._kernel(key), key)
            return function

        return register if fn is None else register(fn)

    def _check_device_argument(self, device_type: str | None) -> None:
        arguments = self._opoverload.declared.arguments
        if device_type is None or any(one.type.kind == "Tensor" for one in arguments):
            return
        if not any(one.name == "device" and one.type.kind == "Device" for one in arguments):
            raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")

    def _kernel(self, key: str) -> Callable[..., Any]:
        """Return what is registered for a key: it runs the present kernel and holds it to the operator's promises."""
        arguments = self._opoverload.declared.arguments
        written = [one.name for one in arguments if one.is_write]
        names = [one.name for one in arguments]

        def run(*args: Any, **kwargs: Any) -> Any:
            function = self._init_fn if key in self._disabled else self._kernels[key]
            result = function(*args, **kwargs)
            given = dict(zip(names, args, strict=False)) | kwargs
            _check_aliases(self._name, function, _tensors(given.values()), _tensors(_several(result)))
            for tensor in _tensors(given[name] for name in written if name in given):
                tensor._counter[0] += 1
            return result

        return run

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """In the block, a registered kernel of a device type applies or the operator's own function does."""
        key = key_of_device(device_type)
        before = key in self._disabled
        (self._disabled.discard if enabled else self._disabled.add)(key)
        try:
            yield
        finally:
            (self._disabled.add if before else self._disabled.discard)(key)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Give the operator its geometry rule, which the meta device uses."""
        self._lib._register_fake(self._name, fn)
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Give the operator its backward; torch's RuntimeError for one that writes or returns views."""
        check_functional(self._opoverload, self)
        check_setup(self._opoverload, setup_context)
        self._gradients.backward, self._gradients.setup_context = backward, setup_context

    def register_autocast(self, device_type: str, cast_inputs: Any) -> Callable[..., Any]:
        """Have floating-point inputs cast to a dtype where autocast is on for a device type."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        key = key_of_device(device_type, "Autocast")
        kernel = casting_kernel(self._opoverload, device_type, cast_inputs)
        self._lib.impl(self._name, kernel, key, allow_override=True)
        return kernel

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Give the operator its batching rule, `func(info, in_dims, *args)`; a decorator without `func`."""

        def register(function: Callable[..., Any]) -> None:
            register_rule(self._opoverload.row, function)

        return register if func is None else register(func)

    def register_torch_dispatch(
        self, torch_dispatch_class: Any, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Make a function answer for a `__torch_dispatch__` class or mode; a decorator without `fn`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._lib._register_torch_dispatch_rule(self._name, torch_dispatch_class, function)
            return function

        return register if fn is None else register(fn)


def check_functional(op: Any, shown: Any) -> None:
    """Raise torch's RuntimeError for an operator that cannot have a backward of its own."""
    if not is_functional(op):
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {shown} with schema {op._schema}. Please create "
            "a functional operator and register an autograd formula for that."
        )


def definition_of(name: str) -> CustomOpDef | None:
    """Return the custom operator called `name`, None for an operator made otherwise."""
    return _definitions.get(name) if name in _libraries else None


def _only_writes(schema: Schema) -> bool:
    """Return whether an operator writes its arguments and returns nothing: that is its geometry rule."""
    return not schema.returns and any(one.is_write for one in schema.arguments)


def _describe_nothing(*args: Any, **kwargs: Any) -> None:
    """The geometry rule of operators that return nothing."""


def _several(result: Any) -> Sequence[Any]:
    return result if isinstance(result, (list, tuple)) else (result,)


def _tensors(values: Iterable[Any]) -> list[TensorBase]:
    found: list[TensorBase] = []
    for value in values:
        found.extend(one for one in _several(value) if isinstance(one, TensorBase))
    return found


def _check_aliases(
    name: str, function: Callable[..., Any], inputs: list[TensorBase], results: list[TensorBase]
) -> None:
    """Raise torch's RuntimeError when a result is an input or shares memory with one or with another result."""
    seen = {id(one) for one in inputs}
    storages = {id(one._storage) for one in inputs if one._storage is not None}
    for result in results:
        if id(result) in seen or (result._storage is not None and id(result._storage) in storages):
            raise RuntimeError(
                f"{name} (with implementation in {inspect.getmodule(function)}): The output of this custom "
                "operator (1) must not also be an input to this custom operator and (2) may not alias any inputs to this "
                "custom operator or other returns. The most common way to trigger this error is if we have y = "
                "custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output "
                "tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
            )
        seen.add(id(result))
        if result._storage is not None:
            storages.add(id(result._storage))


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function an operator `namespace::name`; a decorator without `fn`.

    Args:
        mutates_args: the names of the parameters it writes, or "unknown".
        device_types: what it is the kernel for, None for every device.
        schema: its signature; None takes it from the annotations.
        tags: what is known of it.

    >>> @torch.library.custom_op("docs::half", mutates_args=())
    ... def half(x: torch.Tensor) -> torch.Tensor:
    ...     return x / 2
    >>> half(torch.ones(1))
    tensor([0.5000])
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        namespace, base = name.split("::")
        made = CustomOpDef(namespace, base, text, function, tags)
        if schema is not None:
            _check_written(made, mutates_args, schema)
        made.register_kernel(device_types)(function)
        return made

    return make if fn is None else make(fn)


def _check_written(made: CustomOpDef, mutates_args: Any, schema: str) -> None:
    written = {one.name for one in made._opoverload.declared.arguments if one.is_write}
    if written != set(mutates_args):
        made._lib._destroy()
        raise ValueError(
            f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The schema suggests "
            f"that the op mutates {written}which is different from what was provided to us in `mutates_args`. Please make "
            "these consistent."
        )


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """As `custom_op`; the Triton kernels that the function would launch are refused by `wrap_triton`.

    >>> @torch.library.triton_op("docs::plus_one", mutates_args=())
    ... def plus_one(x: torch.Tensor) -> torch.Tensor:
    ...     return x + 1
    >>> plus_one(torch.ones(2))
    tensor([2., 2.])
    """
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Callable[..., Any], /) -> NoReturn:
    """Raise ModuleNotFoundError: there is no Triton compiler here."""
    raise ModuleNotFoundError("No module named 'triton'", name="triton")
