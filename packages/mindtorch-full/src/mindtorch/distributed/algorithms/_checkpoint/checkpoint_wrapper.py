"""Wrapping modules so that their activations are computed again in backward, or kept in the host's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.autograd.graph import save_on_cpu
from mindtorch.utils.checkpoint import checkpoint

__all__ = [
    "ActivationWrapper",
    "CheckpointImpl",
    "CheckpointWrapper",
    "OffloadWrapper",
    "apply_activation_checkpointing",
    "checkpoint_wrapper",
    "offload_wrapper",
]

_NAME = "_checkpoint_wrapped_module"
_PREFIX = _NAME + "."


class CheckpointImpl(Enum):
    """The two ways to compute again."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(nn.Module):
    """A module around another, whose state dict does not show it."""

    def __init__(self, mod: Any) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self.register_state_dict_post_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module in the wrapper's way."""
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._modules[_NAME], name)

    def __getitem__(self, key: int) -> Any:
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Yield the parameters by the names that they have without the wrapper."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), parameter

    @staticmethod
    def _post_state_dict_hook(module: Any, state_dict: Any, prefix: str, *args: Any) -> None:
        for key in [key for key in state_dict if key.startswith(prefix + _PREFIX)]:
            state_dict[prefix + key[len(prefix + _PREFIX) :]] = state_dict.pop(key)

    @staticmethod
    def _pre_load_state_dict_hook(module: Any, state_dict: Any, prefix: str, *args: Any) -> None:
        for key in [key for key in state_dict if key.startswith(prefix)]:
            state_dict[prefix + _PREFIX + key[len(prefix) :]] = state_dict.pop(key)


class OffloadWrapper(ActivationWrapper):
    """Keeps activations in the host's memory."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """Computes activations again."""

    def __init__(
        self,
        mod: Any,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn_kwargs["use_reentrant"] = checkpoint_impl == CheckpointImpl.REENTRANT
        self.checkpoint_fn = partial(checkpoint_fn or checkpoint, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        if self.checkpoint_impl == CheckpointImpl.REENTRANT and kwargs:
            named = tuple(kwargs)

            def call(*given: Any) -> Any:
                split = len(given) - len(named)
                return self._checkpoint_wrapped_module(*given[:split], **dict(zip(named, given[split:], strict=True)))

            return self.checkpoint_fn(call, *args, *kwargs.values())
        return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)


def offload_wrapper(module: Any) -> Any:
    """Keep a module's activations in the host's memory."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Any,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> Any:
    """Compute a module's activations again in backward."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Any,
    checkpoint_wrapper_fn: Callable[..., Any] = checkpoint_wrapper,
    check_fn: Callable[[Any], bool] = lambda _: True,
    auto_wrap_policy: Any = None,
) -> None:
    """Wrap the modules of a model for which `check_fn` holds, or that a policy chooses."""
    if auto_wrap_policy is not None:
        check_fn = partial(_chosen, auto_wrap_policy)
    for name, child in list(model.named_children()):
        if not isinstance(child, ActivationWrapper):
            apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn)
            if check_fn(child):
                setattr(model, name, checkpoint_wrapper_fn(child))


def _chosen(policy: Any, module: Any) -> bool:
    count = sum(parameter.numel() for parameter in module.parameters())
    return bool(policy(module=module, recurse=False, nonwrapped_numel=count))


adopt(globals())
