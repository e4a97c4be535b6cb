"""`torch.distributed.fsdp.wrap`: which modules of a model are wrapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

__all__ = ["ModuleWrapPolicy", "always_wrap_policy", "size_based_auto_wrap_policy", "transformer_auto_wrap_policy"]

_SMALLEST = int(1e8)


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Wrap every module."""
    return True


class ModuleWrapPolicy:
    """Wraps modules of given classes."""

    def __init__(self, module_classes: Iterable[type]) -> None:
        self._module_classes = set(module_classes)
        self._module_classes_str = str(self._module_classes)

    def __call__(self, module: Any, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        """Return whether to go on into a module (`recurse`), or to wrap it."""
        return recurse or isinstance(module, tuple(self._module_classes))

    def __repr__(self) -> str:
        return f"{super().__repr__()}({self._module_classes_str})"


def transformer_auto_wrap_policy(
    module: Any, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: set[type]
) -> bool:
    """Wrap a transformer's layers."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def lambda_auto_wrap_policy(
    module: Any, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Any], bool]
) -> bool:
    """Wrap what a function says."""
    return recurse or lambda_fn(module)


def size_based_auto_wrap_policy(
    module: Any,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = _SMALLEST,
    force_leaf_modules: set[type] | None = None,
    exclude_wrap_modules: set[type] | None = None,
) -> bool:
    """Wrap modules with many parameters."""
    leaves = force_leaf_modules or {nn.MultiheadAttention}
    excluded = exclude_wrap_modules or {nn.ModuleList, nn.ModuleDict}
    large = nonwrapped_numel >= min_num_params
    return large and not isinstance(module, tuple(leaves if recurse else excluded))


globals().update(functions(__name__, "enable_wrap wrap"))

adopt(globals())
