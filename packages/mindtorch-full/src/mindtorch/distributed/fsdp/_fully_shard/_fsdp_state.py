"""What is done before and after a module runs, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch.autograd import Variable
from mindtorch.distributed.fsdp._fully_shard._fsdp_api import MixedPrecisionPolicy
from mindtorch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup, TrainingState
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree

_STATES = "_fsdp_state"


def state_of(module: nn.Module) -> FSDPState | None:
    """Return a module's state, None when it has none of its own."""
    return module.__dict__.get(_STATES)


class _Context:
    """What all modules below one root share."""

    def __init__(self) -> None:
        self.all_states: list[FSDPState] = []
        self.forward_root: FSDPState | None = None
        self.callback_queued = False
        self.is_last_backward = True


class FSDPState:
    """The hooks of one call of `fully_shard`."""

    def __init__(
        self, modules: Sequence[nn.Module], device: torch.device, policy: MixedPrecisionPolicy, auto_reshard: bool
    ) -> None:
        self.modules, self.device, self.policy, self.auto_reshard = tuple(modules), device, policy, auto_reshard
        self.group: FSDPParamGroup | None = None
        self.context = _Context()
        self.is_root: bool | None = None
        self.may_change_root = False
        self.training_state = TrainingState.IDLE
        self.forward_prefetch: list[FSDPState] = []
        self.backward_prefetch: list[FSDPState] = []
        self._to_run: set[nn.Module] = set()
        for module in self.modules:
            module.__dict__[_STATES] = self
            module.register_forward_pre_hook(self.pre_forward, prepend=True, with_kwargs=True)
            module.register_forward_hook(self.post_forward)

    def lazy_init(self) -> None:
        """Make the first state that runs the root of those below it."""
        if self.is_root is not None:
            return
        if len(self.modules) > 1:
            raise RuntimeError(f"FSDP requires a single root module but got {self.modules}")
        self.is_root = True
        root = self.modules[0]
        for name, module in root.named_modules():
            state = state_of(module)
            if state is None or state in self.context.all_states:
                continue
            if state is not self:
                state.go_below(name)
            self.context.all_states.append(state)
        if self.auto_reshard and self.group is not None:
            self.group.reshard_after_forward = False  # the root's parameters would be gathered again at once
        self._share()

    def go_below(self, name: str) -> None:
        """Become part of another root; FSDP1's modules may be wrapped again, for example to evaluate them."""
        if self.may_change_root:
            if self.is_root:
                raise AssertionError(
                    "Non-root FSDP instance's `_is_root` should not have been set yet or should have been set to `False`"
                )
        elif self.is_root is not None:
            raise RuntimeError(
                f"FSDP state has already been lazily initialized for {name}\n"
                "FSDP requires running forward through the root module first"
            )
        self.is_root = False

    def _share(self) -> None:
        """Give all states the root's context, and parameters their names."""
        names = {id(param): name for name, param in self.modules[0].named_parameters()}
        order: list[FSDPParamGroup] = []
        for state in self.context.all_states:
            state.context = self.context
            if state.group is not None:
                state.group.forward_order = order
                for param in state.group.fsdp_params:
                    param.fqn = names.get(id(param.sharded_param))
        for state in self.context.all_states:
            if state.group is not None:
                state.group.lazy_init()

    def pre_forward(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Gather the parameters."""
        if self.training_state is TrainingState.PRE_BACKWARD:  # a checkpointed module runs again
            if self.group is not None:
                self.group.unshard()
                self.group.wait_for_unshard()
            return self._cast_inputs(args, kwargs)
        first = self.training_state is not TrainingState.FORWARD
        self.training_state = TrainingState.FORWARD
        if first:
            self.lazy_init()
            if self.context.forward_root is None:
                self.context.forward_root = self
            self._to_run = set(self.modules)
        args, kwargs = self._cast_inputs(args, kwargs)
        if self.group is not None:
            args, kwargs = self.group.pre_forward(args, kwargs)
        if first:
            for state in self.forward_prefetch:
                if state.group is not None:
                    state.group.unshard(state.group.unshard_async_op)
        return args, kwargs

    def post_forward(self, module: nn.Module, args: object, output: object) -> object:
        """Free the parameters, and wait for gradients."""
        if self.training_state is TrainingState.PRE_BACKWARD:
            return self._cast_output(output)
        self._to_run.discard(module)
        if not self._to_run:
            if self.group is not None:
                self.group.post_forward()
            self.training_state = TrainingState.IDLE
            if self.context.forward_root is self:
                self.context.forward_root = None
        return self._cast_output(self._watch(output))

    def _cast_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        dtype = self.policy.param_dtype
        if not self.policy.cast_forward_inputs or dtype is None:
            return args, kwargs
        cast_args, cast_kwargs = _pytree.tree_map(lambda value: _cast(value, dtype), (args, kwargs))
        return cast_args, cast_kwargs

    def _cast_output(self, output: object) -> object:
        dtype = self.policy.output_dtype
        return output if dtype is None else _pytree.tree_map(lambda value: _cast(value, dtype), output)

    def _watch(self, output: object) -> object:
        if torch.is_grad_enabled():
            for value in _pytree.tree_leaves(output):
                if isinstance(value, Tensor) and value.requires_grad:
                    value.register_hook(self.pre_backward)
        return output

    def pre_backward(self, grad: Tensor) -> Tensor:
        """Gather the parameters again."""
        self.training_state = TrainingState.PRE_BACKWARD
        context = self.context
        if not context.callback_queued:
            context.callback_queued = True
            Variable._execution_engine.queue_callback(self.end_of_backward)
        if self.group is not None:
            self.group.pre_backward(prefetch=not self.backward_prefetch)
        for state in self.backward_prefetch:
            if state.group is not None:
                state.group.prefetch()
        return grad

    def forget_step(self) -> None:
        """Make everything ready for a step after one that ended with an exception."""
        if self.is_root is False:
            raise RuntimeError("reset_iter_state must be called on the root FSDP module")
        for state in self.context.all_states:
            state._to_run.clear()
            state.training_state = TrainingState.IDLE
            if state.group is not None:
                state.group.forget_step()
        self.context.forward_root, self.context.callback_queued = None, False

    def end_of_backward(self) -> None:
        """Reduce what no input's gradient made us reduce."""
        context = self.context
        for state in reversed(context.all_states):
            group = state.group
            if group is not None and group.waits_for_gradients:
                group.post_backward()
            state.training_state = TrainingState.IDLE
            if group is not None:
                group.state = TrainingState.IDLE
                if context.is_last_backward:
                    group.finalize_backward()
        context.callback_queued = False


def _cast(value: object, dtype: torch.dtype) -> object:
    if isinstance(value, Tensor) and value.is_floating_point() and value.dtype != dtype:
        return value.to(dtype)
    return value
