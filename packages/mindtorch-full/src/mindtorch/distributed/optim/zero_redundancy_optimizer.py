"""`ZeroRedundancyOptimizer`: each process has the optimizer's state of some parameters, and sends them to all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.join import Join, Joinable, JoinHook
from mindtorch.optim.optimizer import Optimizer
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree

__all__ = ["ZeroRedundancyOptimizer"]


class _ZeROJoinHook(JoinHook):
    def __init__(self, zero: ZeroRedundancyOptimizer) -> None:
        self.zero = zero
        super().__init__()

    def main_hook(self) -> None:
        """Take a step, as the parameters of this process change with the others' gradients."""
        self.zero.step()


def _checked(params: Iterable[Any]) -> tuple[list[Any], list[Tensor]]:
    """Return parameters or groups as a list, and all parameters."""
    if isinstance(params, torch.Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {torch.typename(params)}")
    try:
        given = list(params)
    except TypeError as error:
        raise TypeError(
            f"`params` argument should be an iterable of Tensors or dicts, but got {torch.typename(params)}"
        ) from error
    if not given:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if all(isinstance(one, torch.Tensor) for one in given):
        tensors = given
    elif all(isinstance(one, dict) for one in given):
        if any("params" not in group for group in given):
            raise ValueError(
                "Each parameter group passed-in via `params` must have a 'params' key mapping to the parameters in "
                "the group"
            )
        tensors = [param for group in given for param in group["params"]]
    else:
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    kinds = [torch.typename(param) for param in tensors]
    for kind in kinds:
        if kind != kinds[0] or tensors[0].is_sparse:
            other = "" if kind == kinds[0] else f" and {kind}"
            both = "both " if other else ""
            raise ValueError(
                "ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got "
                f"{both}{kinds[0]}{other}"
            )
    return given, tensors


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer whose state is spread over processes; parameters are whole everywhere.

    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-3)
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: dist.ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not offered")
        given, self._all_params = _checked(params)
        Joinable.__init__(self)
        self.process_group = process_group if process_group is not None else dist.group.WORLD
        self.world_size, self.rank = dist.get_world_size(self.process_group), dist.get_rank(self.process_group)
        self.initialized = False
        self._ranks: dict[Tensor, int] = {}
        self._loads = [0] * self.world_size
        self._all_state_dicts: list[dict[str, Any]] = []
        Optimizer.__init__(self, given, defaults)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optim_constructor, self._optim_defaults = optimizer_class, defaults
        self.optim: Optimizer = optimizer_class(self._local_groups(self.rank), **defaults)
        for group in self.param_groups:
            for key, value in self.optim.param_groups[0].items():
                if key != "params":
                    group.setdefault(key, value)
        _copy_options(self.optim.param_groups, self.param_groups)
        if parameters_as_bucket_view:
            self._make_buckets()
        self.initialized = True

    def _assign(self, group: dict[str, Any]) -> None:
        """Give a group's parameters to processes, the largest first, to the one with the least."""
        for param in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
            rank = self._loads.index(min(self._loads))
            self._ranks[param] = rank
            self._loads[rank] += param.numel()

    def _local_groups(self, rank: int) -> list[dict[str, Any]]:
        """Return the groups with the parameters of one process."""
        groups = []
        for group in self.param_groups:
            own = [param for param in group["params"] if self._ranks[param] == rank]
            own.sort(key=lambda p: p.numel(), reverse=True)
            groups.append({**{key: value for key, value in group.items() if key != "params"}, "params": own})
        return groups

    def _partition_parameters(self, params_per_rank: object = None) -> list[list[dict[str, Any]]]:
        """Return every process's groups."""
        if params_per_rank is not None:
            raise NotImplementedError("ZeroRedundancyOptimizer: a partition of the program's is not offered")
        return [self._local_groups(rank) for rank in range(self.world_size)]

    def _make_buckets(self) -> None:
        """Put each process's parameters behind one another: they are sent at once."""
        self._buckets: dict[int, list[Tensor]] = {}
        for rank in range(self.world_size):
            params = [param for param in self._all_params if self._ranks[param] == rank]
            self._buckets[rank] = []
            for dtype in dict.fromkeys(param.dtype for param in params):
                members = [param for param in params if param.dtype == dtype]
                bucket = torch.cat([param.detach().reshape(-1) for param in members])
                start = 0
                for param in members:
                    param.data = bucket.narrow(0, start, param.numel()).view_as(param)
                    start += param.numel()
                self._buckets[rank].append(bucket)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters."""
        super().add_param_group(param_group)
        self._assign(self.param_groups[-1])
        if self.initialized:
            self._all_params += self.param_groups[-1]["params"]
            self.optim.add_param_group(self._local_groups(self.rank)[-1])
            if self.parameters_as_bucket_view:
                self._make_buckets()

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> float | None:
        """Change the parameters of this process, and send all."""
        Join.notify_join_context(self)
        _copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(closure=closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        works = []
        with torch.no_grad():
            for rank in range(self.world_size):
                source = dist.get_global_rank(self.process_group, rank)
                sent = self._buckets[rank] if self.parameters_as_bucket_view else self._of_rank(rank)
                for tensor in sent:
                    works.append(dist.broadcast(tensor.data, src=source, group=self.process_group, async_op=True))
            for work in works:
                if work is not None:
                    work.wait()
        _copy_options(self.optim.param_groups, self.param_groups)
        return loss

    def _of_rank(self, rank: int) -> list[Tensor]:
        return [param for group in self._local_groups(rank) for param in group["params"]]

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what a process does that has no inputs left."""
        return _ZeROJoinHook(self)

    @property
    def join_device(self) -> torch.device:
        """The device of what is communicated."""
        return self._all_params[0].device

    @property
    def join_process_group(self) -> dist.ProcessGroup:
        """The processes that join."""
        return self.process_group

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the states of all to one process; all call it."""
        _copy_options(self.param_groups, self.optim.param_groups)
        own = _pytree.tree_map(lambda v: v.cpu() if isinstance(v, torch.Tensor) else v, self.optim.state_dict())
        gathered: list[Any] | None = [None] * self.world_size if self.rank == to else None
        dist.gather_object(own, gathered, dst=dist.get_global_rank(self.process_group, to), group=self.process_group)
        self._all_state_dicts = gathered or []

    def state_dict(self) -> dict[str, Any]:
        """Return the states of all, as `consolidate_state_dict` brought them here."""
        if not self._all_state_dicts:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. "
                f"Please call `consolidate_state_dict(to={self.rank})` on "
                "all ranks beforehand if you meant to save the global state."
            )
        result = super().state_dict()
        numbers = {param: index for index, param in enumerate(self._in_order())}
        for rank, local in enumerate(self._all_state_dicts):
            for group, known in zip(local["param_groups"], self._local_groups(rank), strict=True):
                for index, param in zip(group["params"], known["params"], strict=True):
                    if index in local["state"]:
                        result["state"][numbers[param]] = local["state"][index]
        result["state"] = dict(sorted(result["state"].items()))
        return result

    def _in_order(self) -> list[Tensor]:
        return [param for group in self.param_groups for param in group["params"]]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what is this process's from the states of all."""
        params = self._in_order()
        for index, values in state_dict["state"].items():
            param = params[index]
            if self._ranks[param] == self.rank and values is not None:
                self.optim.state[param] = {key: _placed(value, param) for key, value in values.items()}
        super().load_state_dict({**state_dict, "state": {}})
        _copy_options(state_dict["param_groups"], self.param_groups)
        _copy_options(self.param_groups, self.optim.param_groups)


def _placed(value: Any, param: Tensor) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.cpu() if value.dim() == 0 else value.to(param.device)


def _copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
    """Copy all but the parameters from groups to groups."""
    for one, other in zip(source, target, strict=True):
        for key, value in one.items():
            if key != "params":
                other[key] = value


adopt(globals())
