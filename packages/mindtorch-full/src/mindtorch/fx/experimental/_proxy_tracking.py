"""Which proxy stands for a tensor while a program is traced, and what a graph's nodes say of their values."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from mindtorch.fx.passes.shape_prop import _extract_tensor_metadata
from mindtorch.fx.proxy import Proxy
from mindtorch.utils._python_dispatch import _disable_current_modes
from mindtorch.utils._pytree import tree_map

py_sym_types = (torch.SymInt, torch.SymFloat, torch.SymBool)
"""Types of sizes and numbers that are symbols."""


class _NoDefault:
    """Says that a look-up raises where there is nothing."""


no_default = _NoDefault()


@dataclasses.dataclass
class _ProxyTensor:
    """What stands for a tensor: its proxy and, of a small literal, its value."""

    proxy: Proxy
    constant: Any


def set_proxy_slot(obj: Any, tracer: Any, proxy: Any) -> None:
    """Let `proxy` stand for a tensor while `tracer` records."""
    tracer.tensor_tracker[obj] = proxy


def has_proxy_slot(obj: Any, tracer: Any) -> bool:
    """Return whether something stands for a tensor."""
    return obj in tracer.tensor_tracker


def get_proxy_slot(
    obj: Any, tracer: Any, default: Any = no_default, transform: Callable[[Any], Any] = lambda found: found
) -> Any:
    """Return what stands for a tensor, as `transform` makes it.

    Raises:
        RuntimeError: nothing does, and there is no `default`.
    """
    if not isinstance(obj, torch.Tensor):
        raise AssertionError(f"a tensor is looked up, not {type(obj)}")
    if obj in tracer.tensor_tracker:
        return transform(tracer.tensor_tracker[obj])
    if default is no_default:
        raise RuntimeError(f"{obj} ({type(obj)}, {id(obj)})is not tracked with proxy for {tracer}")
    return default


def fetch_object_proxy(tracer: Any, t: Any) -> Any:
    """Return what stands for a tensor, and the tensor itself where nothing does."""
    return get_proxy_slot(t, tracer, t)


@functools.cache
def _described() -> FakeTensorMode:
    """Return the mode of the fakes that describe real tensors."""
    return FakeTensorMode(allow_fallback_kernels=True)


def snapshot_fake(val: Any, include_real: bool = False) -> Any:
    """Return a fake of a fake tensor, of the geometry that it has now: the tensor itself may still be changed."""
    with _disable_current_modes():
        return val.detach()


def extract_val(val: Any, include_real: bool = False) -> Any:
    """Return what a node keeps of its value: fakes of tensors, numbers and texts as they are."""
    if isinstance(val, FakeTensor):
        return snapshot_fake(val, include_real=include_real)
    if isinstance(val, py_sym_types):
        return val
    if isinstance(val, list | tuple | dict):
        return tree_map(lambda one: extract_val(one, include_real), val)
    if isinstance(val, torch.Tensor):
        return _described_as(val)
    if isinstance(val, int | float | bool | str):
        return val
    return None


def _described_as(val: torch.Tensor) -> Any:
    if val.layout is not torch.strided:
        return None
    with _disable_current_modes(), _described():
        return torch.empty_strided(
            val.shape, val.stride(), device=val.device, dtype=val.dtype, requires_grad=val.requires_grad
        )


def set_meta(proxy: Proxy, val: Any) -> Proxy:
    """Note on a proxy's node what its value is; return the proxy."""
    proxy.node.meta["val"] = extract_val(val, include_real=proxy.node.op == "placeholder")
    if isinstance(val, torch.Tensor) and val.layout is torch.strided:
        with _disable_current_modes():
            proxy.node.meta["tensor_meta"] = _extract_tensor_metadata(val)
    return proxy


def track_tensor(tensor: Any, proxy: Proxy, *, constant: Any, tracer: Any) -> None:
    """Let a proxy stand for a tensor."""
    set_proxy_slot(tensor, tracer, _ProxyTensor(proxy, constant))


def track_tensor_tree(inner_res: Any, proxy_res: Any, *, constant: Any, tracer: Any) -> Any:
    """Let a proxy, or the proxies of a container, stand for all the tensors of a result; return the result.

    Where one proxy stands for a container, each item becomes a node that takes it out.
    """

    def wrap(value: Any, proxy: Any, known: Any) -> None:
        if isinstance(value, torch.Tensor):
            if not isinstance(proxy, Proxy):
                raise AssertionError(f"Expected Proxy, got {type(proxy)}")
            track_tensor(value, proxy, tracer=tracer, constant=known)
            set_meta(proxy, value)
        elif isinstance(value, list | tuple):
            if isinstance(proxy, Proxy):
                set_meta(proxy, value)
            for place, item in enumerate(value):
                wrap(item, proxy[place], None if known is None else known[place])
        elif isinstance(value, dict):
            if isinstance(proxy, Proxy):
                raise AssertionError("dictionaries of results have a proxy for each item")
            for key, item in value.items():
                wrap(item, proxy[key], None if known is None else known[key])

    wrap(inner_res, proxy_res, constant)
    return inner_res
