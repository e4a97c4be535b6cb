"""In which order a stage takes the parts of a batch, forward and backward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes
from mindtorch.distributed.pipelining.microbatch import (
    TensorChunkSpec,
    merge_chunks,
    split_args_kwargs_into_chunks,
    split_tensor,
)
from mindtorch.distributed.pipelining.stage import PipelineStage
from mindtorch.tensor.tensor import Tensor

__all__ = ["PipelineScheduleSingle", "Schedule1F1B", "ScheduleGPipe"]


class _Step:
    """One step of a schedule: the parts of a batch, and the losses so far."""

    def __init__(
        self,
        stage: PipelineStage,
        loss_fn: Callable[..., Tensor] | None,
        args: list[tuple[Any, ...]],
        kwargs: list[dict[str, Any]],
        targets: list[Tensor] | None,
        return_outputs: bool,
        loss_kwargs: dict[str, Any] | None,
    ) -> None:
        self.stage, self.loss_fn, self.args, self.kwargs, self.targets = stage, loss_fn, args, kwargs, targets
        self.return_outputs, self.loss_kwargs = return_outputs, loss_kwargs or {}
        self.losses: list[Tensor] = []
        self.count = len(args)

    def forward(self, index: int) -> None:
        """Take a part forward, and send what comes out."""
        output = self.stage.forward_one_chunk(index, self.args[index], self.kwargs[index], self.return_outputs)
        self.stage.send_activations(output)
        if self.stage.is_last and self.loss_fn is not None:
            target = None if self.targets is None else self.targets[index]
            self.losses.append(self.loss_fn(output, target, **self.loss_kwargs))

    def backward(self, index: int) -> None:
        """Take a part backward, and send the gradients of what came in."""
        if self.stage.has_backward:
            loss = self.losses[index] if self.losses else None
            self.stage.backward_one_chunk(index, loss, last_backward=index == self.count - 1)
            self.stage.send_gradients(index)


class PipelineScheduleSingle(ABC):
    """A schedule of one stage a process. Gradients are divided by the number of parts, unless losses are sums."""

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
        self._stage, self._n_microbatches, self._loss_fn = stage, n_microbatches, loss_fn
        self._num_stages = stage.num_stages
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec, self.scale_grads = output_merge_spec, scale_grads
        self._has_backward = loss_fn is not None

    @abstractmethod
    def _run(self, step: _Step) -> None:
        """Take all parts forward and backward."""

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
        if self._has_backward and not torch.is_grad_enabled():
            raise RuntimeError(
                "step() requires gradients to be enabled for backward computation; "
                "it should not be used under torch.no_grad() context. "
                "Please call eval() instead."
            )
        if losses is not None and not isinstance(losses, list):
            raise TypeError(f"losses must be a list but got a {type(losses)}")
        stage, count = self._stage, self._n_microbatches
        stage.has_backward = self._has_backward
        stage.clear_runtime_states()
        parts, keywords = split_args_kwargs_into_chunks(
            args, kwargs, count, self._args_chunk_spec, self._kwargs_chunk_spec
        )
        if len(parts) != count:
            raise ValueError(f"Expecting {count} arg_mbs but got {len(parts)}")
        targets = None if target is None else list(split_tensor(target, 0, count))
        step = _Step(stage, self._loss_fn, parts, keywords, targets, return_outputs, loss_kwargs)
        self._run(step)
        stage.finish_sending()
        if stage.is_last and losses is not None:
            losses[:] = step.losses
        if self._has_backward:
            stage.scale_grads(count if self.scale_grads else 1)
        if stage.is_last and return_outputs:
            return merge_chunks(stage.output_chunks, self._output_merge_spec)
        return None

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


class ScheduleGPipe(PipelineScheduleSingle):
    """All parts forward, then all backward.

    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    def _run(self, step: _Step) -> None:
        for index in range(step.count):
            step.forward(index)
        for index in range(step.count):
            step.backward(index)


class Schedule1F1B(PipelineScheduleSingle):
    """As many parts forward as there are stages to come, then one backward and one forward in turn: less is kept.

    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=loss_fn)
    schedule.step(x)
    """

    def __init__(self, stage: PipelineStage, n_microbatches: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(stage, n_microbatches, *args, **kwargs)
        if n_microbatches < self._num_stages:
            raise ValueError(
                f"Number of microbatches ({n_microbatches}) must be greater than "
                f"or equal to the number of stages ({self._num_stages})."
            )

    def _run(self, step: _Step) -> None:
        ahead = min(step.count, self._num_stages - self._stage.stage_index)
        for index in range(ahead):
            step.forward(index)
        for index in range(step.count):
            step.backward(index)
            if index + ahead < step.count:
                step.forward(index + ahead)


globals().update(
    classes(
        __name__,
        "ScheduleInterleaved1F1B ScheduleLoopedBFS ScheduleInterleavedZeroBubble ScheduleZBVZeroBubble ScheduleDualPipeV",
    )
)

adopt(globals())
