"""`torch.fx.experimental.meta_tracer`: tracing with tensors on the meta device, so that sizes are known."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.fx._symbolic_trace import Tracer
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_aggregate
from mindtorch.fx.proxy import Attribute, Proxy

__all__ = [
    "MetaAttribute",
    "MetaDeviceAttribute",
    "MetaProxy",
    "MetaTracer",
    "embedding_override",
    "functional_relu_override",
    "gen_constructor_wrapper",
    "manual_meta_overrides",
    "nn_layernorm_override",
    "proxys_to_metas",
    "symbolic_trace",
    "torch_abs_override",
    "torch_nn_relu_override",
    "torch_relu_override",
    "torch_where_override",
]


def embedding_override(self: nn.Embedding, input: torch.Tensor) -> torch.Tensor:
    """Return what an embedding gives."""
    return torch.empty(*input.shape, self.weight.shape[-1], device="meta")


def nn_layernorm_override(self: nn.LayerNorm, input: torch.Tensor) -> torch.Tensor:
    """Return what a layer normalization gives."""
    return input


def torch_relu_override(x: torch.Tensor) -> torch.Tensor:
    """Return what `torch.relu` gives."""
    return x


def torch_nn_relu_override(self: nn.ReLU, x: torch.Tensor) -> torch.Tensor:
    """Return what `nn.ReLU` gives."""
    return x


def functional_relu_override(x: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    """Return what `F.relu` gives."""
    if inplace:
        raise AssertionError("don't support inplace functional.relu for metatensor analysis")
    return x


def torch_where_override(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return what `torch.where` gives."""
    return condition.to(device="meta") + x.to(device="meta") + y.to(device="meta")


def torch_abs_override(input: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return what `torch.abs` gives."""
    if out is not None:
        raise AssertionError("Don't support in-place abs for MetaTensor analysis")
    return input


manual_meta_overrides: dict[Callable[..., Any], Callable[..., Any]] = {
    nn.Embedding: embedding_override,
    nn.LayerNorm: nn_layernorm_override,
    torch.relu: torch_relu_override,
    nn.functional.relu: functional_relu_override,
    nn.ReLU: torch_nn_relu_override,
    torch.where: torch_where_override,
    torch.abs: torch_abs_override,
}
"""What runs in the place of functions and modules; programs add their own."""


def gen_constructor_wrapper(target: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a function that records a call of `target` with a proxy among its arguments, and `target`."""

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        proxies: list[Proxy] = []
        map_aggregate((args, kwargs), lambda one: proxies.append(one) if isinstance(one, Proxy) else None)
        if proxies:
            return proxies[-1].tracer.create_proxy("call_function", target, args, kwargs)
        return target(*args, **kwargs)

    return wrapper, target


class MetaProxy(Proxy):
    """A proxy that may know a tensor on the meta device like its value."""

    def install_tensor_meta(self, tensor_meta: Any) -> None:
        """Say what the value is like."""
        self._tensor_meta = tensor_meta

    def _known(self) -> Any:
        return self.__dict__.get("_tensor_meta")

    def size(self, dim: int | None = None) -> Any:
        """Return the size, or record the call where it is not known."""
        known = self._known()
        if known is not None:
            return known.size(*[dim] if dim else [])
        return self.tracer.create_proxy("call_method", "size", (self, dim) if dim else (self,), {})

    def dim(self) -> Any:
        """Return the number of dimensions, or record the call."""
        known = self._known()
        return known.dim() if known is not None else self.tracer.create_proxy("call_method", "dim", (self,), {})

    def _attribute(self, name: str) -> Any:
        known = self._known()
        if known is not None:
            return getattr(known, name)
        return self.tracer.create_proxy("call_function", getattr, (self, name), {})

    @property
    def shape(self) -> Any:
        """The size, or a proxy of it."""
        return self._attribute("shape")

    @property
    def dtype(self) -> Any:
        """The dtype, or a proxy of it."""
        return self._attribute("dtype")

    @property
    def device(self) -> MetaDeviceAttribute:
        """A proxy of the device: the program runs on another than meta."""
        return MetaDeviceAttribute(self, "device")

    def __getattr__(self, k: str) -> Any:
        if k == "_tensor_meta":
            return self.__getattribute__(k)
        return MetaAttribute(self, k)


class MetaAttribute(Attribute, MetaProxy):  # type: ignore[misc]
    """An attribute of a proxy, which may know what it is like."""


class MetaDeviceAttribute(MetaAttribute):
    """The device of a proxy's value."""


def proxys_to_metas(v: Any) -> Any:
    """Return what a proxy's value is like, anything else as it is."""
    if isinstance(v, MetaDeviceAttribute):
        return "meta"
    if not isinstance(v, Proxy):
        return v
    if not isinstance(v, MetaProxy):
        raise AssertionError(f"Expected MetaProxy but got {type(v)}")
    if not hasattr(v, "_tensor_meta"):
        raise AssertionError("MetaProxy does not have an associated meta")
    return v._tensor_meta


class MetaTracer(Tracer):
    """Traces a program and runs each node on tensors of the meta device."""

    allow_insert_stateless_mods: bool = True
    _TORCH_METHODS_TO_PATCH = ("arange", "zeros", "ones", "full_like", "eye")

    def create_proxy(  # type: ignore[override]
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:
        """Return the proxy of a new node, with what its value is like; warns where that could not be told."""
        made: Any = super().create_proxy(kind, target, args, kwargs, name, type_expr, proxy_factory_fn)
        if kind == "placeholder" and target in self.meta_args:
            made.install_tensor_meta(self.meta_args[target])
            return made
        if kind not in ("call_function", "call_method", "call_module", "get_attr"):
            return made
        if target in self.orig_fns and "device" in kwargs:
            kwargs["device"] = "meta"
        try:
            found = self._run(kind, target, *map_aggregate((args, kwargs), proxys_to_metas))
            if not isinstance(made, Proxy):
                raise AssertionError("Don't support composite output yet")
            made.install_tensor_meta(found)  # type: ignore[attr-defined]
        except Exception as error:  # noqa: BLE001 (the program goes on without knowing)
            warnings.warn(f"Could not compute metadata for {kind} target {target}: {error}", stacklevel=2)
        return made

    def _run(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if kind == "call_function":
            return manual_meta_overrides.get(target, target)(*args, **kwargs)
        if kind == "call_method":
            return getattr(args[0], target)(*args[1:], **kwargs)
        self._disable_module_getattr = True
        try:
            if kind == "call_module":
                if not hasattr(self, "orig_forward"):
                    raise AssertionError("orig_forward not set for call_module")
                module = self.root.get_submodule(target)
                override = manual_meta_overrides.get(type(module))
                return override(module, *args, **kwargs) if override else self.orig_forward(*args, **kwargs)
            value: Any = self.root
            for part in target.split("."):
                value = getattr(value, part)
            if not isinstance(value, torch.Tensor):
                raise AssertionError(f"Expected Tensor, got {type(value)}")
            return value.to(device="meta")
        finally:
            self._disable_module_getattr = False

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return a module's attribute, a proxy of it while a program is traced."""
        if getattr(self, "_disable_module_getattr", False):
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record or run the call of a module."""
        self.orig_forward = forward
        return super().call_module(m, forward, args, kwargs)

    def _insert_module_as_submodule(self, mod: nn.Module) -> str:
        """Make a module that the program made itself a submodule of the root, and return its name."""
        name = type(mod).__name__.lower()
        path, number = f"{name}_0", 0
        while hasattr(self.root, path):
            path = f"{name}_{number}"
            number += 1
        self.root.add_module(path, mod)
        return path

    def path_of_module(self, mod: nn.Module) -> str:
        """Return a module's name; one without parameters and buffers gets a name if it has none."""
        try:
            return super().path_of_module(mod)
        except NameError:
            has_state = any(True for _ in mod.parameters()) or any(True for _ in mod.buffers())
            if not self.allow_insert_stateless_mods or has_state:
                raise
            self.prev_module = self._insert_module_as_submodule(mod)
            return self.prev_module

    def proxy(self, node: Node) -> MetaProxy:
        """Return a proxy for a node."""
        return MetaProxy(node, self)

    def trace(  # type: ignore[override]
        self, root: Any, meta_args: dict[str, torch.Tensor] | None, concrete_args: dict[str, Any] | None = None
    ) -> Graph:
        """Return the graph of a program; `meta_args` has a tensor on the meta device for each input by name."""
        if not isinstance(meta_args, dict):
            raise AssertionError(f"Expected dict for meta_args, got {type(meta_args)}")
        self.meta_args = meta_args
        self.patched_torch_methods = {
            name: gen_constructor_wrapper(getattr(torch, name)) for name in self._TORCH_METHODS_TO_PATCH
        }
        self.orig_fns = {original for _, original in self.patched_torch_methods.values()}
        for name, (wrapper, _) in self.patched_torch_methods.items():
            setattr(torch, name, wrapper)
        try:
            graph = super().trace(root, concrete_args)
            graph._tracer_extras = {"meta_args": meta_args}
            return graph
        finally:
            for name, (_, original) in self.patched_torch_methods.items():
                setattr(torch, name, original)


def symbolic_trace(
    root: nn.Module | Callable[..., Any],
    meta_args: dict[str, torch.Tensor] | None = None,
    concrete_args: dict[str, Any] | None = None,
) -> GraphModule:
    """Return a traced program; see `MetaTracer.trace`."""
    tracer = MetaTracer()
    graph = tracer.trace(root, meta_args, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


adopt(globals())
