"""`torch.distributed.fsdp.wrap`: which modules of a model are wrapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]

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


class CustomPolicy:
    """Wraps modules for which a function returns True, or arguments of the wrapper."""

    def __init__(self, lambda_fn: Callable[[nn.Module], bool | dict[str, Any]]) -> None:
        self._lambda_fn = lambda_fn

    def arguments(self, module: nn.Module) -> dict[str, Any] | None:
        """Return the arguments to wrap a module with, None to leave it."""
        found = self._lambda_fn(module)
        if not isinstance(found, (bool, dict)):
            raise ValueError(
                "The lambda_fn passed to CustomPolicy should return "
                f"False/True or a kwarg dict, but it returned {found}"
            )
        return found if isinstance(found, dict) else {} if found else None


def wrap_children(module: nn.Module, policy: Any, wrapper: Callable[..., nn.Module], options: dict[str, Any]) -> None:
    """Wrap modules within a module, the innermost first, as a policy says; ValueError where one is wrapped already."""
    if isinstance(wrapper, type):
        for name, part in module.named_modules():
            if isinstance(part, wrapper):
                raise ValueError(
                    f"FSDP auto wrapping requires modules to not already have FSDP applied but found {name} in\n{module}"
                )
    _wrap(module, policy, wrapper, options, {}, root=True)


def _wrap(
    module: nn.Module,
    policy: Any,
    wrapper: Callable[..., nn.Module],
    options: dict[str, Any],
    made: dict[nn.Module, nn.Module],
    root: bool,
) -> int:
    """Wrap what is below a module; return how many elements of its parameters are wrapped there."""
    total, wrapped = sum(p.numel() for p in module.parameters()), 0
    by_size = not isinstance(policy, (ModuleWrapPolicy, CustomPolicy))
    if by_size and not policy(module=module, recurse=True, nonwrapped_numel=total):
        return 0
    for name, child in list(module.named_children()):
        size = sum(p.numel() for p in child.parameters())
        if child in made:
            setattr(module, name, made[child])
            continue
        below = _wrap(child, policy, wrapper, options, made, root=False)
        more = _arguments(policy, child, size - below)
        if more is not None:
            made[child] = wrapper(child, **{**options, **more})
            setattr(module, name, made[child])
            below = size
        wrapped += below
    return wrapped


def _arguments(policy: Any, module: nn.Module, unwrapped: int) -> dict[str, Any] | None:
    if isinstance(policy, CustomPolicy):
        return policy.arguments(module)
    return {} if policy(module=module, recurse=False, nonwrapped_numel=unwrapped) else None


_wrapping: list[tuple[Callable[..., nn.Module], dict[str, Any]]] = []


@contextmanager
def enable_wrap(*, wrapper_cls: Callable[..., nn.Module], **wrapper_kwargs: Any) -> Iterator[None]:
    """Let `wrap` wrap in the block."""
    _wrapping.append((wrapper_cls, wrapper_kwargs))
    try:
        yield
    finally:
        _wrapping.pop()


def wrap(module: nn.Module, **wrap_overrides: Any) -> nn.Module:
    """Return a module wrapped as the `enable_wrap` block around says; outside of one the module itself."""
    if not _wrapping:
        return module
    wrapper, options = _wrapping[-1]
    return wrapper(module, **{**options, **wrap_overrides})


adopt(globals())
