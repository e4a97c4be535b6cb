"""Operators whose arguments are functions: `torch._ops.HigherOrderOperator`, whose kernels are Python functions by key."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from mindtorch.utils._pytree import tree_leaves
from mindtorch_dispatch.batching import depth
from mindtorch_dispatch.extend.overloads import namespace
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase


class HigherOrderOperator(abc.ABC):
    """An operator that a subclass defines, with kernels by dispatch key.

    A call goes to the kernel of `Autograd` and, where autograd is passed (a key that `fallthrough` names), to that of the
    tensors' device. Kernels for transforms are kept, but a call under a transform raises.
    """

    def __init__(self, name: str, *, cacheable: bool = False) -> None:
        self._name = self.__name__ = name
        self._ns = "higher_order"
        self._cacheable = cacheable
        self.__module__ = "torch.ops.higher_order"
        self.py_kernels: dict[Any, Callable[..., Any]] = {}
        self._passed: set[DispatchKey] = set()
        namespace("higher_order").__dict__[name] = self

    def py_impl(self, k: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that makes a function the kernel for a dispatch key, a mode's class or a transform."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            if k in self.py_kernels and k is not DispatchKey.Autograd:  # one key of ours stands for one per device
                raise RuntimeError(f"Trying to override a python impl for {k} on operator {self._name}")
            self.py_kernels.setdefault(k, fn)
            return fn

        return register

    def fallthrough(self, dispatch_key: DispatchKey) -> None:
        """Say that calls pass a dispatch key as if it were not there."""
        self._passed.add(dispatch_key)

    def cacheable(self) -> bool:
        """Return whether the kernels of fake tensors may be remembered."""
        return self._cacheable

    def name(self) -> str:
        """Return the operator's name."""
        return self._name

    @property
    def namespace(self) -> str:
        """`higher_order`, the part of `torch.ops` that such operators belong to."""
        return self._ns

    def __str__(self) -> str:
        return self._name

    @abc.abstractmethod
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel for the arguments; a subclass names them and calls this."""
        if depth() or state.transforms:
            raise NotImplementedError(f"{self._name}: higher order operators are not offered under transforms")
        tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, TensorBase)]
        keys = [key for key in DispatchKeySet.from_tensors(tensors) if key not in self._passed]
        if tensors and DispatchKey.Autograd not in self._passed:
            keys.insert(0, DispatchKey.Autograd)
        if not keys:
            raise NotImplementedError(f"could not find kernel for {self._name} at dispatch key DispatchKey.Undefined")
        kernel = self.py_kernels.get(keys[0])
        if kernel is None:
            said = f"DispatchKey.{'AutogradCPU' if keys[0] is DispatchKey.Autograd else keys[0].name}"
            raise NotImplementedError(
                f"could not find kernel for HigherOrderOperator {self._name} at dispatch key {said} (resolved from {said})"
            )
        return kernel(*args, **kwargs)


HigherOrderOperator.__module__ = "torch._ops"
