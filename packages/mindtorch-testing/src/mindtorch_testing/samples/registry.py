"""The registry of samples and the form of one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mindtorch_testing.samples.maker import Maker

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "uint8")
ARITHMETIC = (*FLOATS, *INTEGERS)
EVERY = (*ARITHMETIC, "bool")


class Call:
    """Arguments of one call that must give torch's result."""

    wrong = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs


class Wrong(Call):
    """Arguments of one call that must raise what torch raises."""

    wrong = True


SampleFunction = Callable[[Maker], Iterator[Call]]


@dataclass(frozen=True)
class Sample:
    """A sample function registered for one op."""

    op: str
    dtypes: tuple[str, ...]
    function: SampleFunction
    gradient: bool

    def calls(self, lib: ModuleType, dtype: str, device: str = "cpu") -> list[Call]:
        """Make the calls for a library, dtype and device."""
        return list(self.function(Maker(lib, dtype, device, seed=len(self.op))))


_samples: dict[str, list[Sample]] = {}


def sample(
    *ops: str, dtypes: tuple[str, ...] = FLOATS, gradient: bool = True
) -> Callable[[SampleFunction], SampleFunction]:
    """Register a sample function for ops, named as in the op table ("add.Tensor").

    `gradient` says that float samples are differentiable, so conformance checks gradients on them.
    """

    def register(function: SampleFunction) -> SampleFunction:
        for name in ops:
            _samples.setdefault(name, []).append(Sample(name, dtypes, function, gradient))
        return function

    return register


def registered() -> dict[str, list[Sample]]:
    """Return all samples by op name."""
    return {name: list(found) for name, found in sorted(_samples.items())}


def resolve_op(lib: ModuleType, name: str) -> Callable[..., Any]:
    """Return the callable of an overload: its `ops.aten` object, else the function, method or nn function it shares."""
    packet, _, overload = name.partition(".")
    aten = getattr(getattr(lib, "ops", None), "aten", None)
    if aten is not None and hasattr(aten, packet):
        return getattr(getattr(aten, packet), overload or "default")
    for holder in (lib, lib.Tensor, lib.nn.functional):
        if hasattr(holder, packet):
            return getattr(holder, packet)
    raise AttributeError(f"{lib.__name__} has no op {name}")
