"""`torch._dynamo.testing`: backends that count and keep the graphs they are given, and random tensors with strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._dynamo import lookup_backend
from mindtorch._dynamo import reset as reset
from mindtorch._naming import adopt

__all__ = ["CompileCounter", "CompileCounterWithBackend", "EagerAndRecordGraphs", "rand_strided", "same"]


def _operations(gm: Any) -> int:
    return sum("call" in node.op for node in gm.graph.nodes)


class CompileCounter:
    """A backend that runs graphs as they are, and counts them and the calls in them."""

    def __init__(self) -> None:
        self.frame_count: int | str = 0
        self.op_count = 0
        self.clear()

    def __call__(self, gm: Any, example_inputs: list[torch.Tensor]) -> Any:
        self.frame_count += 1  # type: ignore[operator]
        self.op_count += _operations(gm)
        return gm.forward

    def clear(self) -> None:
        """Begin to count anew."""
        self.frame_count = self.op_count = 0


class CompileCounterWithBackend:
    """A backend that counts graphs and keeps them, and has another one compile them."""

    def __init__(self, backend: Any) -> None:
        self.frame_count: int | str = 0
        self.op_count = 0
        self.backend = backend
        self.graphs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: list[torch.Tensor]) -> Any:
        self.frame_count += 1  # type: ignore[operator]
        self.op_count += _operations(gm)
        self.graphs.append(gm)
        if self.backend == "inductor":
            return gm.forward
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        """Begin to count anew, without graphs."""
        self.frame_count = self.op_count = 0
        self.graphs = []


class EagerAndRecordGraphs:
    """A backend that runs graphs as they are, and keeps them."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.example_inputs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: list[torch.Tensor]) -> Any:
        self.graphs.append(gm)
        self.example_inputs.append(example_inputs)
        return gm.forward


def same(a: Any, b: Any, tol: float = 1e-4, equal_nan: bool = False) -> bool:
    """Return whether two results, of tensors in containers, have the same form and numbers within `tol`."""
    try:
        torch.testing.assert_close(a, b, rtol=tol, atol=tol, equal_nan=equal_nan)
    except AssertionError:
        return False
    return True


def rand_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: torch.dtype = torch.float32,
    device: Any = "cpu",
    extra_size: int = 0,
) -> torch.Tensor:
    """Return a tensor of random numbers with these strides; its memory has ``extra_size`` elements more than needed."""
    needed = sum((length - 1) * step for length, step in zip(size, stride, strict=True)) + 1 + extra_size
    if dtype.is_floating_point or dtype.is_complex:
        memory = torch.randn(needed, dtype=dtype, device=device)
    else:
        memory = torch.zeros(needed, dtype=dtype, device=device)
    return torch.as_strided(memory, size, stride)


adopt(globals())
