"""What ends a recording, and how torch tells it."""

from __future__ import annotations

import itertools
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from mindtorch._dynamo.exc import Unsupported
from mindtorch_dispatch.frames import is_own

AT_ONCE = frozenset(
    "__array__ __bool__ __complex__ __contains__ __deepcopy__ __dlpack__ __float__ __format__ __index__ __int__ __reduce_ex__ "
    "__repr__ __setstate__ __str__ allclose backward data_ptr equal is_nonzero item numpy pin_memory register_hook "
    "register_post_accumulate_grad_hook retain_grad share_memory_ storage tolist untyped_storage".split()
)
"""Functions that need bytes, or leave something on the tensor itself."""

CHANGES_GEOMETRY = frozenset(
    "as_strided_ detach_ requires_grad_ resize_ resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_".split()
)
"""Methods that give the tensor itself another geometry or another place in the graph of autograd."""

KNOWN = frozenset(("is_inference",))
"""Questions that a tensor answers which waits for its bytes."""

_PAGES = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb"


@dataclass
class GraphCompileReason:
    """Why a graph ended."""

    reason: str
    user_stack: list[traceback.FrameSummary]
    graph_break: bool = True


def told(title: str, explanation: str, hints: list[str], context: str, page: str) -> str:
    """Return the text of a break as torch has it."""
    lines = "".join(f"  Hint: {one}\n" for one in hints)
    return (
        f"{title}\n  Explanation: {explanation}\n{lines}\n  Developer debug context: {context}\n\n"
        f" For more details about this graph break, please visit: {_PAGES}{page}.html"
    )


def graph_break_text(msg: str) -> str:
    """Return what torch says of a call of `torch._dynamo.graph_break`."""
    shown = msg or None
    given = f"`[ConstantVariable(str: {msg!r})]`" if msg else "`[]`"
    return told(
        "Call to `torch._dynamo.graph_break()`",
        f"User-inserted graph break. Message: {shown}",
        ["Remove the `torch._dynamo.graph_break()` call."],
        f"Called `torch._dynamo.graph_break()` with args {given}, kwargs `{{}}`",
        "0025",
    )


def reason_of(func: Any, segment: Any) -> str:
    """Return why a call of `func` ends the recording."""
    name = getattr(func, "__name__", str(func))
    if name == "__bool__":
        return _branching(segment)
    if name == "item":
        return told(
            "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.",
            [
                "Set `torch._dynamo.config.capture_scalar_outputs = True` or `export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` to "
                "include these operations in the captured graph."
            ],
            "call_method TensorVariable() item () {}",
            "0124",
        )
    return f"a call of {name}, which is run with the bytes of its tensors"


def _branching(segment: Any) -> str:
    last = segment.calls[-1] if segment.calls else None
    computed = ""
    if last is not None and last.value is not None:
        frame = segment.frames[-1]
        where = f'        # File "{frame.filename}", line {frame.lineno}, in {frame.name}, code: {frame.line}\n'
        computed = (
            "\n\n      The branch condition involves a tensor computed as follows:\n"
            f"{where}        {segment.written(len(segment.calls) - 1)}\n    "
        )
    return told(
        "Data-dependent branching",
        "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support tracing dynamic control "
        f"flow.{computed}",
        [
            "For the common pattern `if tensor_cond: x = transform(x)` (e.g. clamping inf/nan values), consider making the "
            "code branchless by always applying the transform. Operations like torch.clamp, torch.nan_to_num, and torch.where "
            "are typically no-ops on well-behaved inputs and compile without graph breaks.",
            "This graph break is fundamental - it is unlikely that Dynamo will ever be able to trace through your code. "
            "Consider finding a workaround.",
            "Use `torch.cond` to express dynamic control flow.",
        ],
        "attempted to jump with TensorVariable()",
        "0170",
    )


def user_frame() -> traceback.FrameSummary:
    """Return the line of the program that is running."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and is_own(frame):
        frame = frame.f_back
    code = frame.f_code
    start, end, first, last = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
    line = frame.f_lineno if start is None else start
    return traceback.FrameSummary(code.co_filename, line, code.co_name, end_lineno=end, colno=first, end_colno=last)


def unsupported(reason: str) -> Unsupported:
    """Return the error of a graph that must be whole and is not."""
    lines = "".join(traceback.format_list([user_frame()]))
    return Unsupported(
        f"{reason}\n\nfrom user code:\n {lines}\n"
        "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if you're reporting a bug to "
        'PyTorch). For even more developer context, set TORCH_LOGS="+dynamo"\n'
    )
