"""Activation checkpointing of a module in place: the module stays what it is, and its calls compute again in backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed._composable.contract import contract
from mindtorch.distributed._composable_state import _State
from mindtorch.utils.checkpoint._call import region

_DEFAULT_DETERMINISM_MODE = "default"


@contextmanager
def _no_hook(module: nn.Module, user_ctx: AbstractContextManager[Any] | None = None) -> Iterator[None]:
    """Call the module as it was, within the block."""
    with user_ctx or nullcontext():
        state = checkpoint.state(module)
        before, state.enable_hook = state.enable_hook, False
        try:
            yield
        finally:
            state.enable_hook = before


class _CheckpointState(_State):
    """Whether the hooks work, and the region of the call that runs."""

    enable_hook = False
    _ac_generator: AbstractContextManager[None] | None

    def __init__(self) -> None:
        self.enable_hook = True


def _contexts(module: nn.Module, chosen: Callable[[], Any] | None) -> Callable[[], tuple[Any, Any]]:
    def contexts() -> tuple[Any, Any]:
        forward, again = chosen() if chosen is not None else (nullcontext(), None)
        return forward, _no_hook(module, again)

    return contexts


@contract(_CheckpointState)
def checkpoint(module: nn.Module, **kwargs: Any) -> nn.Module:
    """Compute a module's activations again in backward."""
    if kwargs.pop("use_reentrant", False):
        raise NotImplementedError(
            "use_reentrant=True is not supported in composable checkpoint. "
            "Please use torch.utils.checkpoint.checkpoint instead."
        )
    chosen = {
        "preserve_rng_state": kwargs.pop("preserve_rng_state", True),
        "context_fn": _contexts(module, kwargs.pop("context_fn", None)),
        "determinism_check": kwargs.pop("determinism_check", _DEFAULT_DETERMINISM_MODE),
        "debug": kwargs.pop("debug", False),
        "early_stop": kwargs.pop("early_stop", True),
    }
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))

    def before(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        state = checkpoint.state(module)
        if state.enable_hook:
            state._ac_generator = region(module, args, kwargs, **chosen)
            state._ac_generator.__enter__()

    def after(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        state = checkpoint.state(module)
        if state.enable_hook:
            entered, state._ac_generator = state._ac_generator, None
            entered.__exit__(None, None, None)

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_hook(after, prepend=True, always_call=True)  # after an error too
    return module


adopt(globals())
