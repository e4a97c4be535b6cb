"""With `debug=True`: which operators ran forward and which in the recomputation, and where from."""

from __future__ import annotations

import traceback
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import mindtorch as torch
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch.utils._pytree import tree_map

from ._frame import CheckpointError
from ._texts import DEBUG

_SHORT = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex64": "c64",
    "complex128": "c128",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "b8",
    "uint8": "u8",
}


class _Log(TorchDispatchMode):
    """Writes down every operator with its operands numbered in order of appearance."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.traces: list[list[str]] = []
        self.numbers: dict[int, int] = {}
        self.alive: list[Any] = []  # a number must not pass to another tensor with the same id

    def _number(self, tensor: Any) -> str:
        if id(tensor) not in self.numbers:
            self.numbers[id(tensor)] = len(self.numbers)
            self.alive.append(tensor)
        return f"${self.numbers[id(tensor)]}"

    def _show(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return self._number(value)
        if isinstance(value, (list, tuple)):
            inner = ", ".join(map(self._show, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner})"
        return repr(value)

    def _result(self, tensor: Any) -> str:
        dtype = str(tensor.dtype).rpartition(".")[2]
        return f"{self._number(tensor)}: {_SHORT.get(dtype, dtype)}{list(tensor.shape)}"

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        shown = [self._show(arg) for arg in args] + [f"{key}={self._show(value)}" for key, value in kwargs.items()]
        out = func(*args, **kwargs)
        results: list[str] = []
        tree_map(lambda leaf: results.append(self._result(leaf)) if isinstance(leaf, torch.Tensor) else None, out)
        self.lines.append(f"{', '.join(results)} = torch._ops.{func}({', '.join(shown)})")
        frames = traceback.extract_stack()[:-1]
        self.traces.append([f"{frame.filename}:{frame.lineno}:{frame.name}" for frame in reversed(frames)])
        return out

    def report(self, label: str) -> str:
        """The stack trace of each operator."""
        out = ""
        for index, (line, trace) in enumerate(zip(self.lines, self.traces, strict=True)):
            out += f"{line}   ({index + 1} of {len(self.lines)} in {label})\n\n" + "\n".join(trace) + "\n\n\n"
        return out


class OperatorLogs:
    """The logs of one checkpoint."""

    def __init__(self) -> None:
        self.forward = _Log()
        self.recompute = _Log()

    def contexts(self) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
        """What the two runs are logged with."""
        return self.forward, self.recompute

    def explain(self, error: CheckpointError) -> NoReturn:
        """Raise the error again with both logs."""
        raise CheckpointError(
            DEBUG.format(
                forward_traces=self.forward.report("original"),
                recompute_traces=self.recompute.report("recompute"),
                forward_ops="\n".join(self.forward.lines),
                recompute_ops="\n".join(self.recompute.lines),
            )
        ) from error
