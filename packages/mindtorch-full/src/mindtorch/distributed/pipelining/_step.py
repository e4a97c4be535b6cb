"""One step of a schedule: what is done with the parts of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch.distributed.pipelining._orders import _Action, _ComputationType
from mindtorch.distributed.pipelining.stage import PipelineStage
from mindtorch.tensor.tensor import Tensor

_LAST = (_ComputationType.FULL_BACKWARD, _ComputationType.BACKWARD_WEIGHT)


class _Step:
    """One step of a schedule: the parts of a batch, and the losses so far."""

    def __init__(
        self,
        stages: Sequence[PipelineStage],
        loss_fn: Callable[..., Tensor] | None,
        args: list[tuple[Any, ...]],
        kwargs: list[dict[str, Any]],
        targets: list[Tensor] | None,
        return_outputs: bool,
        loss_kwargs: dict[str, Any] | None,
    ) -> None:
        self.stages = {stage.stage_index: stage for stage in stages}
        self.loss_fn, self.args, self.kwargs, self.targets = loss_fn, args, kwargs, targets
        self.return_outputs, self.loss_kwargs = return_outputs, loss_kwargs or {}
        self.losses: list[Tensor] = []
        self.count = len(args)
        self._backwards: Counter[int] = Counter()

    def take(self, action: _Action) -> None:
        """Carry an action out."""
        for one in action.sub_actions or (action,):
            stage, index = self.stages[one.stage_index], one.microbatch_index or 0
            if one.computation_type is _ComputationType.FORWARD:
                self.forward(stage, index)
            elif stage.has_backward:
                self.backward(stage, index, one.computation_type)

    def forward(self, stage: PipelineStage, index: int) -> None:
        """Take a part forward, and send what comes out."""
        output = stage.forward_one_chunk(index, self.args[index], self.kwargs[index], self.return_outputs)
        stage.send_activations(index, output)
        if stage.is_last and self.loss_fn is not None:
            target = None if self.targets is None else self.targets[index]
            self.losses.append(self.loss_fn(output, target, **self.loss_kwargs))

    def backward(self, stage: PipelineStage, index: int, kind: _ComputationType) -> None:
        """Take a part backward, or a half of it, and send the gradients of what came in."""
        loss = self.losses[index] if stage.is_last and self.losses else None
        self._backwards[stage.stage_index] += kind in _LAST
        last = self._backwards[stage.stage_index] == self.count
        if kind is _ComputationType.FULL_BACKWARD:
            stage.backward_one_chunk(index, loss, last_backward=last)
        elif kind is _ComputationType.BACKWARD_INPUT:
            stage.backward_of_inputs(index, loss)
        else:
            stage.backward_of_weights(index, last_backward=last)
            return
        stage.send_gradients(index)
