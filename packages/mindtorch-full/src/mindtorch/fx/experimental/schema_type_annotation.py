"""`torch.fx.experimental.schema_type_annotation`: the types of what nodes give."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Transformer
from mindtorch.fx.proxy import Proxy

__all__ = ["AnnotateTypesWithSchema"]


class AnnotateTypesWithSchema(Transformer):
    """Gives nodes the types that the signatures of modules and functions of `torch.nn` name, and attributes theirs."""

    def __init__(
        self,
        module: GraphModule,
        annotate_functionals: bool = True,
        annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:
        super().__init__(module)
        self.annotate_functionals = annotate_functionals
        self.annotate_modules = annotate_modules
        self.annotate_get_attrs = annotate_get_attrs

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the traced call, annotated where it is a function of `torch.nn.functional`."""
        found = super().call_function(target, args, kwargs)
        if self.annotate_functionals and target.__module__ == "torch.nn.functional":
            _annotate(found, self._extract_python_return_type(target))
        return found

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the traced call, annotated where it is a module of `torch.nn`."""
        if not isinstance(target, str):
            raise AssertionError(f"Expected str target, got {type(target)}")
        called = self.fetch_attr(target)
        found = super().call_module(target, args, kwargs)
        if self.annotate_modules and getattr(nn, type(called).__name__, None) is type(called):
            _annotate(found, self._extract_python_return_type(called.forward))
        return found

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return the traced attribute with its type."""
        found = super().get_attr(target, args, kwargs)
        if self.annotate_get_attrs:
            _annotate(found, _type_of(self.fetch_attr(target)))
        return found

    def _extract_python_return_type(self, target: Any) -> Any:
        """Return what a callable's signature says it returns; None where it says nothing, or it depends on the arguments."""
        if not callable(target):
            raise AssertionError(f"Expected callable target, got {type(target)}")
        try:
            found = inspect.signature(target).return_annotation
        except (ValueError, TypeError):  # functions of native code have no signature
            return None
        return None if found in (inspect.Signature.empty, Any) else found


def _annotate(proxy: Any, kind: Any) -> None:
    if kind is not None and not proxy.node.type:
        proxy.node.type = kind


def _type_of(value: Any) -> Any:
    """Return the type that annotations give a value; None where they have none for it."""
    if isinstance(value, torch.Tensor):
        return torch.Tensor
    if type(value) in (bool, int, float, complex, str, torch.device, torch.dtype):
        return type(value)
    if isinstance(value, list | tuple) and value:
        kinds = [_type_of(one) for one in value]
        if None in kinds or (isinstance(value, list) and len(set(kinds)) > 1):
            return None
        # The forms that annotations of scripted code have.
        form: Any = typing.Tuple if isinstance(value, tuple) else typing.List  # noqa: UP006
        return form[tuple(kinds)] if isinstance(value, tuple) else form[kinds[0]]
    return None


adopt(globals())
