"""`CustomOp`: an operator of a program, with what computes it, what gives its shape and its gradients."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import mindtorch as torch
from mindtorch import library
from mindtorch._library.infer_schema import infer_schema
from mindtorch._naming import adopt
from mindtorch.library import get_ctx
from mindtorch.library._names import has_kernel
from mindtorch.utils import _pytree as pytree
from mindtorch_dispatch.schema import parse_schema

from .autograd import autograd_kernel_indirection
from .checks import RESERVED_NS as RESERVED_NS
from .checks import (
    SUPPORTED_DEVICE_TYPE_TO_KEY,
    parse_qualname,
    validate_backward,
    validate_device_type,
    validate_function_matches_schema,
    validate_namespace,
    validate_schema,
)

__all__ = ["CustomOp", "custom_op", "get_ctx"]

Function = Callable[..., Any]
Register = Callable[[Function], Any]


class FuncAndLocation(typing.NamedTuple):
    """A registered function, and where that was."""

    func: Function
    location: str


global_registry: dict[str, CustomOp] = {}
"""Operators by qualified name; they stay until they are destroyed."""


def warn_deprecated() -> None:
    """Give torch's warning of this interface."""
    warnings.warn(
        "torch._custom_op is deprecated and will be removed in PyTorch 2.6, please use the equivalent torch.library API "
        "instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def custom_op(qualname: str, manual_schema: str | None = None) -> Callable[[Function], CustomOp]:
    """Return a decorator that makes an operator of a function's signature; `torch.library.custom_op` takes its place.

    Raises:
        ValueError: what is decorated is no function, has another name or parameters, or does more than compute.
    """
    warn_deprecated()

    def define(func: Function) -> CustomOp:
        if not inspect.isfunction(func):
            raise ValueError(f"custom_op(...)(func): Expected `func` to be a Python function, got: {type(func)}")
        ns, name = parse_qualname(qualname)
        validate_namespace(ns)
        if func.__name__ != name:
            raise ValueError(
                f"custom_op(qualname='{qualname}', ...)(func): expected `func` to have name '{name}' but got "
                f"'{func.__name__}'. Please either change the name of `func` or the qualname that is passed to `custom_op`"
            )
        schema = infer_schema(func, mutates_args=()) if manual_schema is None else manual_schema
        made = _declare(ns, name, schema, func if manual_schema is not None else None)
        made.__name__, made.__module__, made.__doc__ = func.__name__, func.__module__, func.__doc__
        made._registered_autograd_kernel_indirection = False  # so torch takes formulas of `torch._custom_ops` alone
        return made

    return define


def _declare(ns: str, name: str, schema: str, func: Function | None = None) -> CustomOp:
    """Return a new operator; ValueError for a schema that `func` does not fit, or that is none of a function."""
    parsed = parse_schema(f"{name}{schema}", namespace="", strict=True)
    validate_schema(parsed)
    if func is not None:
        validate_function_matches_schema(parsed, func)
    lib = library.Library(ns, "FRAGMENT")
    lib.define(f"{name}{schema}")
    made = CustomOp(lib, ns, parsed, name, get_op(f"{ns}::{name}"), _private_access=True)
    made._register_autograd_kernel_indirection()
    return made


class CustomOp:
    """An operator that `custom_op` made; a call runs it."""

    __name__: str

    def __init__(
        self, lib: Any, cpp_ns: str, schema: Any, operator_name: str, ophandle: Any, *, _private_access: bool = False
    ) -> None:
        warn_deprecated()
        if not _private_access:
            raise RuntimeError(
                "The CustomOp constructor is private and we do not guarantee BC for it. Please use custom_op(...) to create a "
                "CustomOp object"
            )
        self._schema, self._cpp_ns, self._lib, self._overload = schema, cpp_ns, lib, ophandle
        self._opname, self._qualname = operator_name, f"{cpp_ns}::{operator_name}"
        self._impls: dict[str, FuncAndLocation] = {}
        self._output_differentiability: list[bool] | None = None
        self._registered_autograd_kernel_indirection = False
        global_registry[self._qualname] = self

    def _register_autograd_kernel_indirection(self) -> None:
        self._lib.impl(self._opname, autograd_kernel_indirection(weakref.proxy(self)), "Autograd")
        self._registered_autograd_kernel_indirection = True

    def _register_impl(self, kind: str, func: Function, stacklevel: int = 2) -> None:
        if kind in self._impls:
            raise RuntimeError(
                f"Attempting to register a {kind} impl for operator {self._qualname} that already has a {kind} impl "
                f"registered from Python at {self._impls[kind].location}. This is not supported."
            )
        frame = sys._getframe(stacklevel)
        self._impls[kind] = FuncAndLocation(func, f"{frame.f_code.co_filename}:{frame.f_lineno}")

    def _get_impl(self, kind: str) -> FuncAndLocation:
        return self._impls[kind]

    def _has_impl(self, kind: str) -> bool:
        return kind in self._impls

    def _destroy(self) -> None:
        """Take the operator back; it cannot be called after that."""
        self._lib._destroy()
        del self._lib, global_registry[self._qualname]

    def __repr__(self) -> str:
        return f'<CustomOp(op="{self._qualname}")>'

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operator; NotImplementedError where nothing was registered for the device of the arguments."""
        devices = {one.device.type for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)}
        if not devices and not self._has_impl("factory"):
            raise NotImplementedError(
                f"{self}: There were no Tensor inputs to this operator (e.g. you passed an empty list of Tensors). If your "
                "operator is a factory function (that is, it takes no Tensors and constructs a new one), then please use "
                "CustomOp.impl_factory to register an implementation for it"
            )
        for device in sorted(devices):
            self._require_kernel(device)
        return self._overload(*args, **kwargs)

    def _require_kernel(self, device: str) -> None:
        key = SUPPORTED_DEVICE_TYPE_TO_KEY.get(device, "")
        if not key or has_kernel(self._qualname, (key, "CompositeImplicitAutograd", "CompositeExplicitAutograd")):
            return
        raise NotImplementedError(
            f"{self}: when running with device='{device}' tensors: there is no {device} impl registered for this CustomOp. "
            f"Please register one via CustomOp.impl(device_type='{device}')"
        )

    def impl(self, device_types: str | Iterable[str], _stacklevel: int = 2) -> Register:
        """Return a decorator that registers what computes the operator on devices; ValueError for others than CPU and CUDA."""
        named = [device_types] if isinstance(device_types, str) else list(device_types)
        for one in named:
            validate_device_type(one)

        def register(func: Function) -> Function:
            for one in dict.fromkeys(named):
                key = SUPPORTED_DEVICE_TYPE_TO_KEY[one]
                if not self._has_impl(one) and has_kernel(self._qualname, (key, "CompositeImplicitAutograd")):
                    raise RuntimeError(
                        f"impl(..., device_types={one}): the operator {self._qualname} already has an implementation for "
                        "this device type via a pre-existing torch.library or TORCH_LIBRARY registration."
                    )
                self._register_impl(one, func, _stacklevel)
                self._lib.impl(self._opname, func, key)
            return func

        return register

    def impl_factory(self) -> Register:
        """Return a decorator that registers what computes the operator where it takes no tensors."""

        def register(func: Function) -> Function:
            self._register_impl("factory", func)
            self._lib.impl(self._opname, func, "BackendSelect")
            return func

        return register

    def impl_abstract(self, _stacklevel: int = 2) -> Register:
        """Return a decorator that registers what gives the operator's result without data."""

        def register(func: Function) -> Function:
            self._check_no_other_meta()
            self._register_impl("abstract", func, _stacklevel)
            library.register_fake(self._qualname, func, lib=self._lib)
            return func

        return register

    def _check_no_other_meta(self) -> None:
        if self._has_impl("abstract"):
            return
        said = f"impl_abstract(...): the operator {self._qualname} already has "
        if has_kernel(self._qualname, ("CompositeImplicitAutograd",)):
            raise RuntimeError(
                f"{said}an implementation for this device type via a pre-existing registration to "
                "DispatchKey::CompositeImplicitAutograd.CompositeImplicitAutograd operators do not need an abstract impl; "
                "instead, the operator will decompose into its constituents and those can have abstract impls defined on them."
            )
        if has_kernel(self._qualname, ("Meta",)):
            raise RuntimeError(
                f"{said}an DispatchKey::Meta implementation via a pre-existing torch.library or TORCH_LIBRARY registration. "
                "Please either remove that registration or don't call impl_abstract."
            )

    def _check_can_have_formula(self) -> None:
        validate_backward(self._qualname, self._schema)
        if self._registered_autograd_kernel_indirection:
            return
        said = f"impl_backward/impl_save_for_backward: the operator {self._qualname} already has an "
        if has_kernel(self._qualname, ("CompositeImplicitAutograd",)):
            raise RuntimeError(
                f"{said}implementation for this device type via a pre-existing registration to "
                "DispatchKey::CompositeImplicitAutograd.CompositeImplicitAutograd operators do not need an autograd formula; "
                "instead, the operator will decompose into its constituents and those can have autograd formulas defined on "
                "them."
            )
        for key in ("Autograd", "AutogradCPU", "AutogradCUDA"):
            if has_kernel(self._qualname, (key,)):
                raise RuntimeError(
                    f"{said}Autograd kernel registered to DispatchKey::{key} vi a pre-existing torch.library or TORCH_LIBRARY "
                    "registration. Please either remove those registrations or don't use the torch._custom_ops APIs"
                )
        self._register_autograd_kernel_indirection()

    def impl_save_for_backward(self, _stacklevel: int = 2) -> Register:
        """Return a decorator that registers what saves values for the backward, of the inputs by name and the output."""

        def register(func: Function) -> None:
            self._check_can_have_formula()
            self._register_impl("save_for_backward", func, _stacklevel)

        return register

    def impl_backward(self, output_differentiability: list[bool] | None = None, _stacklevel: int = 2) -> Register:
        """Return a decorator that registers the backward: of what was saved and the gradients of the outputs it returns a
        dict of gradients by names of inputs. RuntimeError for other than a bool for each output."""
        if output_differentiability is not None and not (
            isinstance(output_differentiability, list)
            and all(isinstance(one, bool) for one in output_differentiability)
            and len(output_differentiability) == len(self._schema.returns)
        ):
            raise RuntimeError(
                "impl_backward(output_differentiability): expected output_differentiability to be a list of bools with length "
                f"equal to the number of outputs of this CustomOp got: {output_differentiability}"
            )

        def register(func: Function) -> None:
            self._check_can_have_formula()
            self._register_impl("backward", func, _stacklevel)
            self._output_differentiability = output_differentiability

        return register


def get_op(qualname: str) -> Any:
    """Return the overload of an operator without overloads; ValueError where nobody declared it."""
    ns, name = parse_qualname(qualname)
    packet = getattr(getattr(torch.ops, ns), name, None)
    if packet is None or not hasattr(packet, "default"):
        raise ValueError(
            f"Could not find the operator {qualname}. Please make sure you have already registered the operator and (if "
            "registered from C++) loaded it via torch.ops.load_library."
        )
    return packet.default


def custom_op_from_existing(op: Any) -> CustomOp:
    """Return the operator of an overload that was declared elsewhere."""
    lib, name = library.Library(op.namespace, "FRAGMENT"), op.name().split("::")[-1]
    return CustomOp(lib, op.namespace, op.declared.replace(name=name), name, op, _private_access=True)


def _find_custom_op(qualname: str, also_check_torch_library: bool = False) -> CustomOp:
    """Return the operator of a name; RuntimeError, or ValueError where those of `torch.library` count, when there is none."""
    if qualname in global_registry:
        return global_registry[qualname]
    if not also_check_torch_library:
        raise RuntimeError(f'Could not find custom op "{qualname}". Did you register it via the torch._custom_ops API?')
    return custom_op_from_existing(get_op(qualname))


def get_abstract_impl(qualname: str) -> Function | None:
    """Return what gives an operator's result without data, None where there is none."""
    made = global_registry.get(qualname)
    return made._get_impl("abstract").func if made is not None and made._has_impl("abstract") else None


_custom_op_with_schema = functools.partial(_declare)
"""Made from a namespace, a name and a signature."""

adopt(globals())
