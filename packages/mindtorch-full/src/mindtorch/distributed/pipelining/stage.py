"""One stage of a model that is spread over processes, layer after layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed.pipelining._orders import ranks_of_stages
from mindtorch.nn.parallel import DistributedDataParallel
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree

__all__ = ["PipelineStage"]

_Known = tuple[tuple[int, ...], torch.dtype, bool]
_Roots = tuple[list[Tensor], list[Tensor] | None]


class PipelineStage:
    """Runs a part of a model, the stage `stage_index` of `num_stages`; a schedule says when.

    Shapes are told by the stage before, with its first activations.

        stage = PipelineStage(layers, rank, world_size, device)
        schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_fn)
        schedule.step(x) if rank == 0 else schedule.step(target=y)
    """

    def __init__(
        self,
        submodule: nn.Module,
        stage_index: int,
        num_stages: int,
        device: torch.device,
        input_args: Tensor | tuple[Tensor, ...] | None = None,
        output_args: Tensor | tuple[Tensor, ...] | None = None,
        output_grads: Tensor | tuple[Tensor, ...] | None = None,
        input_grads: Tensor | tuple[Tensor, ...] | None = None,
        group: dist.ProcessGroup | None = None,
        dw_builder: Callable[[], Callable[..., None]] | None = None,
        get_mesh: Callable[..., object] | None = None,
    ) -> None:
        if stage_index >= num_stages:
            raise ValueError(f"Stage index {stage_index} is out of range of {num_stages}")
        for name, given in (("dw_builder", dw_builder), ("get_mesh", get_mesh), ("input_grads", input_grads),
                            ("output_grads", output_grads)):  # fmt: skip
            if given is not None:
                raise NotImplementedError(f"PipelineStage: the argument {name} is not offered")
        self.submod, self.stage_index, self.num_stages = submodule, stage_index, num_stages
        self.device, self.group = device, group
        self.group_rank, self.group_size = dist.get_rank(group), dist.get_world_size(group)
        if self.group_size > num_stages:
            raise RuntimeError(
                f"Pipeline group size {self.group_size} cannot be larger than number of stages {num_stages}"
            )
        self.has_backward = False
        self.output_chunks: list[Any] = []
        self._expected = {"forward inputs": _listed(input_args), "forward outputs": _listed(output_args)}
        self._inputs: list[_Known] | None = None
        self._told = False
        self.stage_index_to_group_rank = ranks_of_stages(self.group_size, num_stages)
        self._beside: dict[int, PipelineStage] = {}
        self._given: dict[tuple[int, int], list[Tensor]] = {}
        self._kept: dict[int, tuple[tuple[Any, ...], list[Tensor]]] = {}
        self._roots: dict[int, _Roots] = {}
        self._input_grads: dict[int, list[Tensor]] = {}
        self._under_way: list[tuple[dist.Work, Tensor]] = []

    @property
    def is_first(self) -> bool:
        """Whether this stage takes the model's inputs."""
        return self.stage_index == 0

    @property
    def is_last(self) -> bool:
        """Whether this stage gives the model's outputs."""
        return self.stage_index == self.num_stages - 1

    def clear_runtime_states(self) -> None:
        """Forget a step."""
        for kept in (self._given, self._kept, self._roots, self._input_grads):
            kept.clear()
        self.output_chunks = []

    # Messages

    def stand_beside(self, stages: Iterable[PipelineStage]) -> None:
        """Let stages of the same process hand tensors to each other."""
        self._beside = {stage.stage_index: stage for stage in stages}

    def _rank_of(self, stage_index: int) -> int:
        return self.stage_index_to_group_rank[stage_index]

    def _tag(self, sender: int, receiver: int, part: int) -> int:
        """Tell messages apart: every part of a batch passes every border of two stages once in each direction."""
        return 1 + 2 * (part * self.num_stages + sender) + (receiver < sender)

    def _send(self, tensors: Sequence[Tensor], stage_index: int, part: int) -> None:
        if stage_index in self._beside:
            self._beside[stage_index]._given[self.stage_index, part] = [tensor.detach() for tensor in tensors]
            return
        tag = self._tag(self.stage_index, stage_index, part)
        for tensor in tensors:
            given = tensor.detach().contiguous()
            work = dist.isend(given, group=self.group, group_dst=self._rank_of(stage_index), tag=tag)
            if work is not None:
                self._under_way.append((work, given))

    def _receive(self, known: Sequence[_Known], stage_index: int, part: int) -> list[Tensor]:
        if stage_index in self._beside:
            return self._given.pop((stage_index, part))
        tag = self._tag(stage_index, self.stage_index, part)
        tensors = [torch.empty(shape, dtype=dtype, device=self.device) for shape, dtype, _ in known]
        for tensor in tensors:
            work = dist.irecv(tensor, group=self.group, group_src=self._rank_of(stage_index), tag=tag)
            if work is not None:
                work.wait()
        return tensors

    def finish_sending(self) -> None:
        """Return when all that was sent has gone."""
        for work, _ in self._under_way:
            work.wait()
        self._under_way.clear()

    def _receive_activations(self, part: int) -> tuple[Tensor, ...]:
        before = self.stage_index - 1
        if self._inputs is None and before in self._beside:
            self._inputs = [_known(tensor) for tensor in self._given[before, part]]
        elif self._inputs is None:
            told: list[Any] = [None]
            dist.recv_object_list(told, group=self.group, group_src=self._rank_of(before))
            self._inputs = [(tuple(shape), getattr(torch, dtype), wants) for shape, dtype, wants in told[0]]
        received = self._receive(self._inputs, before, part)
        for tensor, (_, _, wants) in zip(received, self._inputs, strict=True):
            tensor.requires_grad_(wants and self.has_backward)
        self._check("forward inputs", received)
        return tuple(received)

    def send_activations(self, part: int, output: object) -> None:
        """Give the next stage what this one computed."""
        if self.is_last:
            return
        outputs = _as_tuple(output)
        self._check("forward outputs", outputs)
        if not self._told:
            self._tell([_known(tensor) for tensor in outputs])
            self._told = True
            self._expected["forward outputs"] = [torch.empty_like(tensor, device="meta") for tensor in outputs]
        self._send(outputs, self.stage_index + 1, part)

    def _tell(self, known: Sequence[_Known]) -> None:
        """Tell the next stage what it will get."""
        if self.stage_index + 1 not in self._beside:
            told = [(list(shape), str(dtype).rpartition(".")[2], wants) for shape, dtype, wants in known]
            dist.send_object_list([told], group=self.group, group_dst=self._rank_of(self.stage_index + 1))

    def _check(self, what: str, tensors: Sequence[Tensor]) -> None:
        expected = self._expected[what]
        if expected is None:
            return
        if len(expected) != len(tensors):
            raise RuntimeError(f"Stage {self.stage_index} {what}: expected {len(expected)} tensors, got {len(tensors)}")
        for index, (own, given) in enumerate(zip(expected, tensors, strict=True)):
            if (own.shape, own.dtype) != (given.shape, given.dtype):
                raise RuntimeError(
                    f"Stage {self.stage_index} {what}: tensor {index} should be {tuple(own.shape)} of {own.dtype}, "
                    f"but is {tuple(given.shape)} of {given.dtype}"
                )

    # Computing

    def forward_one_chunk(
        self, index: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, save_forward_output: bool = True
    ) -> object:
        """Run the module on a part of the batch: on what the stage before sent, or on the model's inputs."""
        given = args if self.is_first else self._receive_activations(index)
        keywords = kwargs or {}
        try:
            if isinstance(self.submod, DistributedDataParallel):
                with self.submod.no_sync():
                    output = self.submod(*given, **keywords)
            else:
                output = self.submod(*given, **keywords)
        except Exception as error:
            text = f"""
            [Stage {self.stage_index}] failed to run forward:
            args: {_described(given)}
            kwargs: {_described(keywords)}
            """
            raise RuntimeError(text) from error
        if self.is_last and save_forward_output:
            self.output_chunks.append(output)
        if self.has_backward:
            self._kept[index] = _as_tuple(output), [] if self.is_first else list(given)
        return output

    def backward_one_chunk(self, index: int, loss: Tensor | None = None, last_backward: bool = False) -> None:
        """Compute the gradients of a part of the batch, from the loss or from what the stage after sent."""
        outputs, _ = self._kept[index]
        (roots, grads), inputs = self._roots_of(index, loss)
        self._backward(roots, grads, last_backward)
        self._keep_input_grads(index, inputs, [tensor.grad for tensor in inputs])
        self._let_go(outputs)

    def backward_of_inputs(self, index: int, loss: Tensor | None = None) -> None:
        """Compute only the gradients that the stage before waits for."""
        outputs, _ = self._kept[index]
        (roots, grads), inputs = self._roots_of(index, loss)
        wanting = [tensor for tensor in inputs if tensor.requires_grad]
        found: Sequence[Tensor | None] = []
        if roots and wanting:
            found = torch.autograd.grad(roots, wanting, grads, retain_graph=True, allow_unused=True)
        self._keep_input_grads(index, inputs, found)
        self._roots[index] = roots, grads
        self._let_go(outputs)

    def backward_of_weights(self, index: int, last_backward: bool = False) -> None:
        """Compute the gradients that `backward_of_inputs` left."""
        roots, grads = self._roots.pop(index)
        parameters = [parameter for parameter in self.submod.parameters() if parameter.requires_grad]
        self._backward(roots, grads, last_backward, parameters)
        self._let_go(tuple(roots))

    def _roots_of(self, index: int, loss: Tensor | None) -> tuple[_Roots, list[Tensor]]:
        """Return from where gradients of a part come, with these gradients, and the inputs that may have some."""
        outputs, inputs = self._kept.pop(index)
        wanting = [tensor for tensor in inputs if tensor.is_floating_point()]
        if self.is_last:
            return ([] if loss is None else [loss], None), wanting
        sent = [output for output in outputs if output.is_floating_point()]
        received = self._receive([_known(output) for output in sent], self.stage_index + 1, index)
        pairs = [(root, grad) for root, grad in zip(sent, received, strict=True) if root.requires_grad]
        return ([root for root, _ in pairs], [grad for _, grad in pairs]), wanting

    def _let_go(self, outputs: tuple[Any, ...]) -> None:
        """Take the model's outputs, or a loss, off the graph: the program has them, and nothing more goes backward."""
        if self.is_last and not self.is_first:
            for output in outputs:
                if isinstance(output, Tensor) and not output._is_view():
                    output.detach_()

    def _keep_input_grads(self, index: int, inputs: Sequence[Tensor], grads: Sequence[Tensor | None]) -> None:
        found = list(grads) or [None] * len(inputs)
        self._input_grads[index] = [
            torch.zeros_like(tensor) if grad is None else grad for tensor, grad in zip(inputs, found, strict=True)
        ]

    def _backward(
        self, roots: list[Tensor], grads: list[Tensor] | None, last: bool, inputs: Sequence[Tensor] | None = None
    ) -> None:
        if isinstance(self.submod, DistributedDataParallel):
            self._backward_of_copies(self.submod, roots, grads, last)
        elif roots and (inputs is None or inputs):
            torch.autograd.backward(roots, grads, inputs=inputs)

    def _backward_of_copies(
        self, copies: DistributedDataParallel, roots: list[Tensor], grads: list[Tensor] | None, last: bool
    ) -> None:
        """Sum gradients in this process; with the last of a step, average those of all copies."""
        if last:
            copies.reducer.prepare_for_forward()
            copies.reducer.prepare_for_backward(roots if copies.find_unused_parameters else [])
            torch.autograd.backward(roots, grads)
            return
        with copies.no_sync():
            torch.autograd.backward(roots, grads)

    def send_gradients(self, index: int) -> None:
        """Give the stage before the gradients of what it sent."""
        grads = self._input_grads.pop(index)
        if not self.is_first:
            self._send(grads, self.stage_index - 1, index)

    def scale_grads(self, factor: int) -> None:
        """Divide the gradients, which are sums over the parts of a batch."""
        if factor != 1:
            for parameter in self.submod.parameters():
                if parameter.grad is not None:
                    parameter.grad.div_(factor)


def _listed(given: Tensor | tuple[Tensor, ...] | None) -> list[Tensor] | None:
    return None if given is None else [given] if isinstance(given, Tensor) else list(given)


def _known(tensor: Tensor) -> _Known:
    return tuple(tensor.shape), tensor.dtype, tensor.is_floating_point()


def _as_tuple(output: object) -> tuple[Any, ...]:
    return tuple(output) if isinstance(output, (tuple, list)) else (output,)


def _described(values: object) -> object:
    return _pytree.tree_map(
        lambda value: (
            f"Tensor({value.shape}, grad={value.requires_grad}, dtype={value.dtype})"
            if isinstance(value, Tensor)
            else value
        ),
        values,
    )


adopt(globals())
