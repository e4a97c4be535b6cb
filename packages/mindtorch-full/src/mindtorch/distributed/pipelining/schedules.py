"""In which order stages take the parts of a batch, forward and backward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.pipelining._orders import (
    Order,
    _Action,
    _ComputationType,
    breadth_first,
    dual_pipe_v,
    interleaved,
    ranks_of_stages,
    v_zero_bubble,
    with_waits,
)
from mindtorch.distributed.pipelining._step import _Step
from mindtorch.distributed.pipelining.microbatch import (
    TensorChunkSpec,
    merge_chunks,
    split_args_kwargs_into_chunks,
    split_tensor,
)
from mindtorch.distributed.pipelining.stage import PipelineStage
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "PipelineScheduleMulti",
    "PipelineScheduleSingle",
    "Schedule1F1B",
    "ScheduleDualPipeV",
    "ScheduleGPipe",
    "ScheduleInterleaved1F1B",
    "ScheduleInterleavedZeroBubble",
    "ScheduleLoopedBFS",
    "ScheduleZBVZeroBubble",
    "get_schedule_class",
]


class _PipelineSchedule(ABC):
    """A schedule. Gradients are divided by the number of parts, unless losses are sums."""

    def __init__(
        self,
        stages: Sequence[PipelineStage],
        n_microbatches: int,
        loss_fn: Callable[..., Tensor] | None,
        args_chunk_spec: tuple[TensorChunkSpec, ...] | None,
        kwargs_chunk_spec: dict[str, TensorChunkSpec] | None,
        output_merge_spec: dict[str, Any] | tuple[Any] | None,
        scale_grads: bool,
    ) -> None:
        self._stages, self._n_microbatches, self._loss_fn = stages, n_microbatches, loss_fn
        self._num_stages = stages[0].num_stages
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec, self.scale_grads = output_merge_spec, scale_grads
        self._has_backward = loss_fn is not None
        self._backward_requires_autograd = True

    @abstractmethod
    def _actions(self) -> Order:
        """Return what this rank does in a step."""

    def step(
        self,
        *args: Any,
        target: Tensor | None = None,
        losses: list[Tensor] | None = None,
        return_outputs: bool = True,
        loss_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> object:
        """Run a batch, cut into parts; the last stage returns the outputs, and puts the losses of the parts in a list."""
        if self._has_backward and self._backward_requires_autograd and not torch.is_grad_enabled():
            raise RuntimeError(
                "step() requires gradients to be enabled for backward computation; "
                "it should not be used under torch.no_grad() context. "
                "Please call eval() instead."
            )
        count = self._n_microbatches
        for stage in self._stages:
            stage.has_backward = self._has_backward
            stage.clear_runtime_states()
        parts, keywords = split_args_kwargs_into_chunks(
            args, kwargs, count, self._args_chunk_spec, self._kwargs_chunk_spec
        )
        targets = None if target is None else list(split_tensor(target, 0, count))
        if len(parts) != count:
            raise ValueError(f"Expecting {count} arg_mbs but got {len(parts)}")
        if losses is not None and not isinstance(losses, list):
            raise TypeError(f"losses must be a list but got a {type(losses)}")
        step = _Step(self._stages, self._loss_fn, parts, keywords, targets, return_outputs, loss_kwargs)
        for action in self._actions():
            if action is not None:
                step.take(action)
        return self._finish(step, losses)

    def _finish(self, step: _Step, losses: list[Tensor] | None) -> object:
        output = None
        for stage in self._stages:
            stage.finish_sending()
            if stage.is_last and losses is not None:
                if len(step.losses) != step.count:
                    raise RuntimeError(f"Expecting {step.count} losses but got {len(step.losses)}")
                losses[:] = step.losses
            if self._has_backward:
                stage.scale_grads(step.count if self.scale_grads else 1)
            if stage.is_last and step.return_outputs:
                output = merge_chunks(stage.output_chunks, self._output_merge_spec)
        return output

    def eval(
        self, *args: Any, target: Tensor | None = None, losses: list[Tensor] | None = None, **kwargs: Any
    ) -> object:
        """Run a batch forward only."""
        before = self._has_backward
        self._has_backward = False
        try:
            return self.step(*args, target=target, losses=losses, **kwargs)
        finally:
            self._has_backward = before


class PipelineScheduleSingle(_PipelineSchedule):
    """A schedule of one stage a process."""

    def __init__(
        self,
        stage: PipelineStage,
        n_microbatches: int,
        loss_fn: Callable[..., Tensor] | None = None,
        args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
        kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None,
        output_merge_spec: dict[str, Any] | tuple[Any] | None = None,
        scale_grads: bool = True,
    ) -> None:
        super().__init__(
            [stage], n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        )
        self._stage = stage

    def _action(self, kind: _ComputationType, index: int) -> _Action:
        return _Action(self._stage.stage_index, kind, index)


class ScheduleGPipe(PipelineScheduleSingle):
    """All parts forward, then all backward.

    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    def _actions(self) -> Order:
        return [
            self._action(kind, index)
            for kind in (_ComputationType.FORWARD, _ComputationType.FULL_BACKWARD)
            for index in range(self._n_microbatches)
        ]


class Schedule1F1B(PipelineScheduleSingle):
    """As many parts forward as there are stages to come, then one backward and one forward in turn: less is kept.

    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    def __init__(
        self,
        stage: PipelineStage,
        n_microbatches: int,
        loss_fn: Callable[..., Tensor] | None = None,
        args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
        kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None,
        output_merge_spec: dict[str, Any] | tuple[Any] | None = None,
        scale_grads: bool = True,
    ) -> None:
        super().__init__(
            stage, n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        )
        if n_microbatches < self._num_stages:
            raise ValueError(
                f"Number of microbatches ({n_microbatches}) must be greater than "
                f"or equal to the number of stages ({self._num_stages})."
            )

    def _actions(self) -> Order:
        count = self._n_microbatches
        ahead = min(count, self._num_stages - self._stage.stage_index)
        order: Order = [self._action(_ComputationType.FORWARD, index) for index in range(ahead)]
        for index in range(count):
            order.append(self._action(_ComputationType.FULL_BACKWARD, index))
            if index + ahead < count:
                order.append(self._action(_ComputationType.FORWARD, index + ahead))
        return order


class PipelineScheduleMulti(_PipelineSchedule):
    """A schedule of several stages a process; `pipeline_order` has the actions of all ranks."""

    _style = "loop"

    def __init__(
        self,
        stages: list[PipelineStage],
        n_microbatches: int,
        loss_fn: Callable[..., Tensor] | None = None,
        args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
        kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None,
        output_merge_spec: dict[str, Any] | tuple[Any] | None = None,
        scale_grads: bool = True,
        backward_requires_autograd: bool = True,
        defer_pp_recv: bool = False,  # tensors are received where they are used: nothing is to be deferred
    ) -> None:
        super().__init__(
            stages, n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        )
        self._backward_requires_autograd = backward_requires_autograd
        self.pp_group_size, self.rank, self.n_local_stages = stages[0].group_size, stages[0].group_rank, len(stages)
        self.stage_index_to_group_rank = ranks_of_stages(self.pp_group_size, self._num_stages, self._style)
        self._check_counts()
        self.pipeline_order = self._orders()
        self._check_stages()
        for stage in stages:
            stage.stage_index_to_group_rank = self.stage_index_to_group_rank
            stage.stand_beside(stages)

    def _check_counts(self) -> None:
        """Refuse numbers of stages and parts that the schedule has no order for."""

    @abstractmethod
    def _order(self, rank: int) -> Order:
        """Return what a rank does in a step."""

    def _orders(self) -> dict[int, Order]:
        return {rank: self._order(rank) for rank in range(self.pp_group_size)}

    def _check_stages(self) -> None:
        """Refuse an order in which not every stage takes every part."""
        actions = [one for order in self.pipeline_order.values() for given in order if given is not None
                   for one in given.sub_actions or (given,)]  # fmt: skip
        kind = _ComputationType.FORWARD
        taken = Counter(action.stage_index for action in actions if action.computation_type is kind)
        for index in range(self._num_stages):
            if taken[index] != self._n_microbatches:
                raise AssertionError(
                    f"Got {taken[index]} {kind} microbatches for stage {index}, expected {self._n_microbatches}"
                )

    def _actions(self) -> Order:
        return self.pipeline_order[self.rank]


class ScheduleLoopedBFS(PipelineScheduleMulti):
    """All parts by the first stage of a rank, then by its next (arXiv:2211.05953).

    schedule = ScheduleLoopedBFS(stages, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    def __init__(
        self,
        stages: list[PipelineStage],
        n_microbatches: int,
        loss_fn: Callable[..., Tensor] | None = None,
        output_merge_spec: dict[str, Any] | tuple[Any] | None = None,
        scale_grads: bool = True,
        backward_requires_autograd: bool = True,
        defer_pp_recv: bool = False,
    ) -> None:
        super().__init__(stages, n_microbatches, loss_fn, None, None, output_merge_spec, scale_grads,
                         backward_requires_autograd, defer_pp_recv)  # fmt: skip

    def _order(self, rank: int) -> Order:
        return breadth_first(rank, self.pp_group_size, self.n_local_stages, self._n_microbatches)


class ScheduleInterleaved1F1B(PipelineScheduleMulti):
    """One part forward and one backward in turn, earlier parts first (arXiv:2104.04473).

    schedule = ScheduleInterleaved1F1B(stages, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    _name = "Interleaved 1F1B"

    def _check_counts(self) -> None:
        rounds = max(1, self._n_microbatches // self.pp_group_size)
        self.number_of_rounds, self.microbatches_per_round = rounds, self._n_microbatches // rounds
        if self._n_microbatches % rounds:
            raise ValueError(
                f"{self._name} requires the number of microbatches to be a "
                f"multiple of the number of rounds ({rounds}), "
                f"but got {self._n_microbatches}."
            )

    def _order(self, rank: int) -> Order:
        return interleaved(rank, self.pp_group_size, self.n_local_stages, self._n_microbatches)


class ScheduleInterleavedZeroBubble(PipelineScheduleMulti):
    """As `ScheduleInterleaved1F1B`, and gradients of weights are computed where a rank would wait (arXiv:2401.10241).

    schedule = ScheduleInterleavedZeroBubble(stages, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    _name = "Zero bubble"
    _check_counts = ScheduleInterleaved1F1B._check_counts

    def _order(self, rank: int) -> Order:
        return interleaved(rank, self.pp_group_size, self.n_local_stages, self._n_microbatches, zero_bubble=True)

    def _orders(self) -> dict[int, Order]:
        return with_waits(super()._orders())


class ScheduleZBVZeroBubble(PipelineScheduleMulti):
    """Two stages a rank, there and back again; gradients of weights apart (arXiv:2401.10241, section 6).

    schedule = ScheduleZBVZeroBubble(stages, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    _style = "v"

    def _check_counts(self) -> None:
        if self.n_local_stages != 2:
            raise ValueError(f"ZBV requires exactly 2 stages per rank, but got {self.n_local_stages}.")

    def _order(self, rank: int) -> Order:
        return v_zero_bubble(rank, self.pp_group_size, self._n_microbatches)


class ScheduleDualPipeV(ScheduleZBVZeroBubble):
    """Two stages a rank, there and back again; a part forward and one backward are one action (arXiv:2412.19437).

    schedule = ScheduleDualPipeV(stages, n_microbatches=8, loss_fn=loss_fn)
    schedule.step(x)
    """

    def _check_counts(self) -> None:
        super()._check_counts()
        if self._n_microbatches < self._num_stages:
            raise ValueError(
                "DualPipeV requires at least as many microbatches as stages, but got "
                f"{self._n_microbatches} microbatches and {self._num_stages} stages."
            )

    def _order(self, rank: int) -> Order:
        return dual_pipe_v(rank, self.pp_group_size, self._n_microbatches)


_CLASSES: dict[str, type[object]] = {
    "1F1B": Schedule1F1B,
    "Interleaved1F1B": ScheduleInterleaved1F1B,
    "GPipe": ScheduleGPipe,
    "LoopedBFS": ScheduleLoopedBFS,
    "InterleavedZeroBubble": ScheduleInterleavedZeroBubble,
    "PipelineScheduleSingle": PipelineScheduleSingle,
    "PipelineScheduleMulti": PipelineScheduleMulti,
    "ZBVZeroBubble": ScheduleZBVZeroBubble,
    "DualPipeV": ScheduleDualPipeV,
}


def get_schedule_class(schedule_name: str) -> type[object]:
    """Return the schedule of a name, in small letters or large ones.

    get_schedule_class("gpipe")  # ScheduleGPipe
    """
    for name, schedule in _CLASSES.items():
        if name.lower() == schedule_name.lower():
            return schedule
    raise ValueError(f"Unknown schedule name '{schedule_name}'. The valid options are {list(_CLASSES)}")


adopt(globals())
