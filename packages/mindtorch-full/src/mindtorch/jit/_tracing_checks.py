"""What `torch.jit.trace` does to find that a trace is not what the program does."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch.jit._warnings import TracerWarning
from mindtorch.testing._tolerances import default_tolerances
from mindtorch_storage.tensor_base import TensorBase


def _indented(text: str) -> str:
    return "\n".join(f"\t{line}" for line in text.split("\n"))


class TracingCheckError(Exception):
    """A second trace of the same program is another one."""

    def __init__(
        self, graph_diff_error: str | None, tensor_compare_error: str | None, extra_msg: str | None = None
    ) -> None:
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += f"{extra_msg}\n"
        if graph_diff_error is not None:
            self.message += f"ERROR: Graphs differed across invocations!\n{_indented(graph_diff_error)}\n"
        if tensor_compare_error is not None:
            self.message += (
                "ERROR: Tensor-valued Constant nodes differed in value across invocations. This often indicates that the "
                f"tracer has encountered untraceable code.\n{_indented(tensor_compare_error)}\n"
            )
        super().__init__(self.message)


TracingCheckError.__module__ = "torch.jit._trace"


def _copied(given: Any) -> Any:
    if isinstance(given, TensorBase):
        made = given.detach().clone(memory_format=mindtorch.preserve_format)  # type: ignore[attr-defined]
        return made.requires_grad_(given.requires_grad)
    if isinstance(given, dict):
        return {key: _copied(one) for key, one in given.items()}
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        return type(given)(*map(_copied, given))
    return type(given)(map(_copied, given)) if isinstance(given, (list, tuple)) else given


@mindtorch.no_grad()
def check(
    function: Callable[..., Any], traced: Any, again: Callable[[Any], Any], inputs: list[Any], tolerance: float
) -> None:
    """Trace a second time on copies of the inputs, and compare the traces, and what they give, with what the program does.

    Raises TracingCheckError for traces that differ; values that differ are a warning.
    """
    for given in inputs:
        given = (given,) if isinstance(given, TensorBase) else given
        second = again(_copied(given))
        found = _outputs(traced, given, "trace", traced, second)
        expected = _outputs(function, given, "Python function", traced, second)
        if _compare(found, expected, "Python function", tolerance, traced):
            _compare(
                found, _outputs(second, given, "repeated trace", traced, second), "repeated trace", tolerance, traced
            )
        difference = _difference(traced, second)
        if any(difference):
            raise TracingCheckError(*difference)


def _outputs(function: Any, given: Any, what: str, traced: Any, second: Any) -> list[Any]:
    try:
        made = function(**_copied(given)) if isinstance(given, dict) else function(*_copied(given))
    except Exception as error:
        text = (
            f"encountered an exception while running the {what} with test inputs.\nException:\n{_indented(str(error))}"
        )
        raise TracingCheckError(*_difference(traced, second), extra_msg=text) from error
    return [one for one in (made if isinstance(made, tuple) else (made,)) if isinstance(one, TensorBase)]


def _compare(found: list[Any], expected: list[Any], what: str, tolerance: float, traced: Any) -> bool:
    same = True
    for number, (one, other) in enumerate(zip(found, expected, strict=False), 1):
        wide = mindtorch.cdouble if one.is_complex() or other.is_complex() else mindtorch.double
        one, other = (tensor.dequantize() if tensor.is_quantized else tensor for tensor in (one, other))
        try:
            mindtorch.testing.assert_close(
                one.to(wide), other.to(wide), rtol=tolerance, atol=default_tolerances(one, other)[1], equal_nan=True
            )
        except AssertionError as error:
            _warn_of_chance(traced)
            warnings.warn(
                f"Output nr {number}. of the traced function does not match the corresponding output of the {what}. Detailed "
                f"error:\n{error}",
                TracerWarning,
                stacklevel=5,
            )
            same = False
    return same


def _warn_of_chance(traced: Any) -> None:
    drawing = [line for line in _whole_text(traced).splitlines() if any(f"torch.{name}(" in line for name in _RANDOM)]
    if drawing:
        nodes = "\n".join(_indented(line.strip()) for line in drawing[:20])
        warnings.warn(
            f"Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n{nodes}\nThis may cause "
            "errors in trace checking. To disable trace checking, pass check_trace=False to torch.jit.trace()",
            TracerWarning,
            stacklevel=6,
        )


_RANDOM = (
    "dropout", "rand", "randn", "rand_like", "randn_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial",
    "normal", "uniform_", "normal_", "rrelu", "feature_dropout", "alpha_dropout", "bernoulli_", "random_",
)  # fmt: skip


def _program(traced: Any) -> Any:
    return getattr(traced, "__self__", traced)._program


def _whole_text(traced: Any) -> str:
    return "\n".join(text for _, text in _program(traced).texts())


def _difference(traced: Any, second: Any) -> tuple[str | None, str | None]:
    """Return what differs between two traces: their code, and their constants."""
    texts = [_whole_text(one) for one in (traced, second)]
    code = None
    if texts[0] != texts[1]:
        lines = difflib.ndiff(texts[0].splitlines(keepends=True), texts[1].splitlines(keepends=True))
        code = "Graph diff:\n" + _indented("".join(lines)) + "\n"
    constants = None
    for number, (one, other) in enumerate(zip(_program(traced).constants, _program(second).constants, strict=False)):
        if not isinstance(one, TensorBase) or not isinstance(other, TensorBase):
            continue
        try:
            mindtorch.testing.assert_close(one, other, equal_nan=True)
        except (RuntimeError, AssertionError) as error:
            constants = f"Node:\n{_indented(f'CONSTANTS.c{number}')}\nComparison exception: {_indented(str(error))}"
            break
    return code, constants
