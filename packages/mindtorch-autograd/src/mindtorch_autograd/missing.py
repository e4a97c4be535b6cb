"""Recording of an op without a derivative row: the node it makes raises when it runs."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.interface.autograd import PlanRequest
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase

from .inplace import check_inplace, rebase_history
from .node import NotImplementedNode
from .recorder import output_specs
from .views import gradient_edge


class MissingRecorder:
    """Recorder of an op without a derivative row: the node it makes raises when it runs."""

    __slots__ = ("name", "outputs", "sources", "written")

    differentiable = None

    def __init__(self, wanted: PlanRequest) -> None:
        self.name = wanted.row.aten_name
        self.outputs = output_specs(wanted)
        self.written = wanted.written
        self.sources = [
            source
            for source, value in zip(wanted.sources, wanted.values, strict=True)
            if source is not None and isinstance(value, TensorBase) and value._sig.requires_grad
        ]

    def resized(self, wanted: PlanRequest) -> MissingRecorder:
        """Return the recorder of a call that differs from this one's in sizes and strides alone."""
        return MissingRecorder(wanted)

    check = staticmethod(check_inplace)

    def before(self, flat: tuple[Any, ...]) -> Any:
        """Refuse what torch refuses; return the edges from before the write."""
        check_inplace(flat[0])
        return [gradient_edge(flat[source]) for source in self.sources]

    def after(self, flat: tuple[Any, ...], result: Tensor | None, before: Any = None) -> None:
        """Connect the result to a node that raises."""
        edges = [gradient_edge(flat[source]) for source in self.sources] if before is None else before
        node = NotImplementedNode(edges, self.outputs)
        node.op_name = self.name
        if self.written:
            rebase_history(flat[0], node)
            return
        for number, output in enumerate(result if isinstance(result, (tuple, list)) else (result,)):
            if output is not None and output._sig.requires_grad:
                output._grad_fn = node
                output._output_nr = number
