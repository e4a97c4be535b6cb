"""The planner's third stage: what the results of a call are, by the meta function of its row."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from ..meta.rule import Outputs
from .call import Call
from .targets import check_out


def describe_results(call: Call) -> None:
    """Ask the row's meta function, where a kernel over arrays runs; functions over tensors say for themselves."""
    if call.function is not None:
        return
    answer = call.row.meta(*call.specs())
    call.answer = answer if isinstance(answer, Outputs) else Outputs(answer)
    if call.bound.out is not None:
        if call.row.meta.counted:
            _keep_shape(call)
        check_out(call)


def _keep_shape(call: Call) -> None:
    """Let the result have the shape of the `out=` tensor, where that has room for as many elements."""
    result, given = call.answer.specs, call.outs[0]._sig.spec
    if given.numel == result.numel:
        call.answer.specs = Spec.of(result.dtype, result.device, given.shape)
