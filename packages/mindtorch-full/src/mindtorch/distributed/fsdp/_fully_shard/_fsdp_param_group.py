"""The parameters that are gathered and reduced together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.autograd import Function
from mindtorch.distributed.fsdp._fully_shard._fsdp_api import AllGather, MixedPrecisionPolicy, ReduceScatter
from mindtorch.distributed.fsdp._fully_shard._fsdp_collectives import (
    Pending,
    all_gather,
    all_gather_by,
    divide_factors,
    finish,
    reduce_scatter,
    reduce_scatter_by,
)
from mindtorch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam, MeshInfo
from mindtorch.distributed.fsdp._fully_shard._region import Region
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree


class TrainingState(Enum):
    """Where in a step a module is."""

    FORWARD = auto()
    PRE_BACKWARD = auto()
    POST_BACKWARD = auto()
    IDLE = auto()


class FSDPParamGroup:
    """Parameters of one or several modules."""

    def __init__(
        self,
        params: Sequence[FSDPParam],
        modules: Sequence[nn.Module],
        info: MeshInfo,
        reshard_after_forward: bool,
        policy: MixedPrecisionPolicy,
    ) -> None:
        self.fsdp_params, self.modules, self.info, self.policy = list(params), list(modules), info, policy
        self.reshard_after_forward = reshard_after_forward
        self.reshard_after_backward = True
        self.reduce_grads = True
        self.all_reduce_grads = True
        self.unshard_in_backward = True
        self.divide_factor: float | None = None
        self.only_sums = False
        self.all_reduce_hook: Callable[[Tensor], None] | None = None
        self.custom_all_gather: AllGather | None = None
        self.custom_reduce_scatter: ReduceScatter | None = None
        self.comm_hook: Callable[[list[Tensor]], list[Tensor]] | None = None
        self.reduce_group: dist.ProcessGroup | None = None
        self.reduce_unused = False
        self.unshard_async_op = False
        self.state = TrainingState.IDLE
        self.forward_order: list[FSDPParamGroup] = []
        self.forward_places: list[int] = []
        self._pending: Pending | None = None
        self._region: Region | None = None
        self._partly_reduced: dict[int, Tensor] = {}

    @property
    def is_unsharded(self) -> bool:
        """Whether the modules have whole parameters."""
        return not self.fsdp_params[0].is_sharded

    @property
    def waits_for_gradients(self) -> bool:
        """Whether backward has not reduced this group's gradients."""
        begun = self.is_unsharded or self.state is TrainingState.PRE_BACKWARD
        return begun and self.state is not TrainingState.POST_BACKWARD

    def lazy_init(self) -> None:
        """Check what can be known only when a first step begins."""
        self._reset()
        on_meta = [p.fqn for p in self.fsdp_params if p.sharded_param.device.type == "meta"]
        if on_meta:
            raise RuntimeError(
                "FSDP parameters should be materialized from meta device before training, "
                f"but the following were still on meta device: {on_meta}\n"
                "For example, call module.to_empty(device) to materialize to device and "
                "call module.reset_parameters() on each module to initialize values."
            )

    def _reset(self) -> None:
        for param in self.fsdp_params:
            param.reset_sharded_param()

    def unshard(self, async_op: bool = False) -> None:
        """Begin to gather the parts."""
        if self._pending is not None or self.is_unsharded:
            return
        with torch.no_grad():
            inputs = [param.gather_input() for param in self.fsdp_params]
            outputs = self._outputs()
            group, comm = self.info.shard_group, self.custom_all_gather
            if comm is None or group.size() == 1:
                self._pending = all_gather(inputs, outputs, group)
            else:
                self._pending = all_gather_by(comm, inputs, outputs, group, async_op)

    def _outputs(self) -> list[Tensor]:
        """Return the arrays that the parts are gathered into."""
        params = self.fsdp_params
        if self._region is None or any(param.gathered is None for param in params):
            sizes, dtypes = [p.whole_numel for p in params], [p.param_dtype for p in params]
            self._region = Region(sizes, dtypes, params[0].device)
            for index, param in enumerate(params):
                param.use(self._region.array(index), self._region.array(index))
        self._region.hold()
        return [param.gathered for param in params if param.gathered is not None]

    def wait_for_unshard(self) -> None:
        """Give the modules whole parameters, when they are gathered."""
        if self._pending is None:
            return
        with torch.no_grad():
            finish(self._pending)
            for param in self.fsdp_params:
                param.to_unsharded()
        self._pending = None

    def reshard(self) -> None:
        """Give the modules this process's parts, and free the whole."""
        if self._pending is not None:
            self.wait_for_unshard()
        if self.is_unsharded:
            for param in self.fsdp_params:
                param.to_sharded()
            if self._region is not None:
                self._region.discard()

    def summon(self, with_grads: bool = False) -> None:
        """Give the modules whole parameters in the precision of the parts, and whole gradients when asked for."""
        self.reshard()
        for param in self.fsdp_params:
            param.in_full_precision(True, self.policy.param_dtype)
        self.unshard()
        self.wait_for_unshard()
        if with_grads:
            with torch.no_grad():
                for param in self.fsdp_params:
                    param.show_grad()

    def dismiss(self, keep: bool, with_grads: bool = False) -> None:
        """Give the modules their parts again, with what changed when that is asked for."""
        with torch.no_grad():
            for param in self.fsdp_params:
                if with_grads:
                    param.hide_grad(keep)
                if keep:
                    param.write_back()
        self.reshard()
        for param in self.fsdp_params:
            param.in_full_precision(False, self.policy.param_dtype)

    def pre_forward(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Before the modules run."""
        self.state = TrainingState.FORWARD
        self.unshard(self.unshard_async_op)
        self.wait_for_unshard()
        if not torch.is_grad_enabled():
            return args, kwargs
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.requires_grad]
        if not places:
            return args, kwargs
        passed = RegisterPostBackwardFunction.apply(self, *[leaves[i] for i in places])
        for place, value in zip(places, passed, strict=True):
            leaves[place] = value
        args, kwargs = _pytree.tree_unflatten(leaves, spec)
        return args, kwargs

    def post_forward(self) -> None:
        """After the modules ran."""
        if self.reshard_after_forward:
            self.reshard()
        if torch.is_grad_enabled():
            self.forward_places.append(len(self.forward_order))
            self.forward_order.append(self)
        self.state = TrainingState.IDLE

    def pre_backward(self, prefetch: bool) -> None:
        """Before the modules' first gradients."""
        if self.state is TrainingState.PRE_BACKWARD:
            return
        self.state = TrainingState.PRE_BACKWARD
        if self.unshard_in_backward:
            self.unshard(self.unshard_async_op)
            self.wait_for_unshard()
        if prefetch and self.forward_places:
            place = self.forward_places.pop()
            if place:
                self.forward_order[place - 1].prefetch()

    def prefetch(self) -> None:
        """Begin to gather for what comes next."""
        if self.unshard_in_backward:
            self.unshard(self.unshard_async_op)

    def post_backward(self) -> None:
        """After the modules' last gradients: reduce them."""
        self.state = TrainingState.POST_BACKWARD
        if not self.reduce_grads:
            if self.reshard_after_backward:
                self.reshard()
            self._gather_in_reduce_dtype()
            return
        used: list[FSDPParam] = []
        grads: list[Tensor] = []
        for param in self.fsdp_params:
            grad = param.take_grad()
            if grad is None and self.reduce_unused and param.sharded_param.requires_grad:
                grad = torch.zeros(param.shape, dtype=param.param_dtype, device=param.device)
            if grad is not None:
                used.append(param)
                grads.append(grad)
        if self.reshard_after_backward:
            self.reshard()
        if used:
            with torch.no_grad():
                self._reduce(used, grads)

    def _gather_in_reduce_dtype(self) -> None:
        """Gradients that are not reduced yet are added up in the dtype of the reduction."""
        dtype = self.policy.reduce_dtype
        for param in self.fsdp_params:
            whole = param.unsharded_param
            grad = None if whole is None else whole.grad
            if dtype is not None and grad is not None and grad.dtype != dtype:
                param.accumulated_grad = param.take_grad().to(dtype)

    def _reduce(self, used: list[FSDPParam], grads: list[Tensor]) -> None:
        dtype = self.policy.reduce_dtype or grads[0].dtype
        inputs = []
        for index, param in enumerate(used):
            inputs.append(param.reduce_input(grads[index], dtype))
            grads[index] = inputs[-1]
        grads.clear()
        if self.comm_hook is not None:
            for param, output in zip(used, self.comm_hook(inputs), strict=True):
                param.accept_grad(output)
            return
        group, replicas = self.reduce_group or self.info.shard_group, self.info.replicate_group
        size = group.size() * (replicas.size() if replicas is not None else 1)
        before, after, op = divide_factors(dtype, size, self.divide_factor, self.only_sums)
        if before is not None and before != 1:
            inputs = [given / before for given in inputs]
        comm = self.custom_reduce_scatter
        if group.size() == 1:
            outputs = inputs
        elif comm is None:
            outputs = reduce_scatter(inputs, group, op)
        else:
            outputs = reduce_scatter_by(comm, inputs, group, op)
        inputs = []
        if replicas is not None:
            outputs = self._all_reduce(used, outputs, replicas, op)
            if not outputs:
                return
        for param, output in zip(used, outputs, strict=True):
            if self.all_reduce_hook is not None:
                self.all_reduce_hook(output)
            param.accept_grad(output.div_(after) if after is not None and after != 1 else output)

    def _all_reduce(
        self, used: list[FSDPParam], outputs: list[Tensor], replicas: dist.ProcessGroup, op: object
    ) -> list[Tensor]:
        """Reduce over the copies; without that, keep what is reduced so far, and return nothing."""
        for index, param in enumerate(used):
            known = self._partly_reduced.pop(id(param), None)
            if known is not None:
                outputs[index] = outputs[index] + known
        if not self.all_reduce_grads:
            self._partly_reduced.update({id(param): part for param, part in zip(used, outputs, strict=True)})
            return []
        for output in outputs:
            dist.all_reduce(output, op=op, group=replicas)
        return outputs

    def forget_step(self) -> None:
        """Drop what a step that ended with an exception left behind."""
        self.reshard()
        for param in self.fsdp_params:
            param.take_grad()
        self._partly_reduced.clear()
        self.forward_places.clear()
        self.forward_order.clear()
        self.state = TrainingState.IDLE

    def finalize_backward(self) -> None:
        """Forget the order of a step that is over."""
        if self._pending is not None:
            self.reshard()
        self.forward_places.clear()
        self.forward_order.clear()


class RegisterPostBackwardFunction(Function):
    """Passes inputs through; its backward comes after the modules' gradients."""

    @staticmethod
    def forward(ctx: Any, group: FSDPParamGroup, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Pass inputs through."""
        ctx.group = group
        return inputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Reduce the group's gradients."""
        ctx.group.post_backward()
        return (None, *grads)
