"""What `gradcheck` says of a wrong gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_cpu.generator import Generator
from mindtorch_dispatch.call import aten
from mindtorch_storage.dtype import float64

NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {}.\n\n"
    "NOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
    "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
    "this failure might be expected.\n\n"
    "If you are adding a new operator, please file an issue and then use one of the\n"
    "workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.\n"
    "If the test\n"
    "- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n"
    "  with `nondet_tol=<tol>` as a keyword argument.\n"
    "- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n"
    "  to have `gradcheck_nondet_tol=<tol>`.\n"
    "- is a Module test (e.g., in common_nn.py), then modify the corresponding\n"
    "  module_test entry to have `gradcheck_nondet_tol=<tol>`\n"
)
UNDEFINED_FAILS = (
    'Expected backward function to handle undefined output grads. Please look at "Notes about undefined output '
    'gradients" in "tools/autograd/derivatives.yaml"'
)
UNDEFINED_COUNTS = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please look at "
    '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
)
UNDEFINED_WARNING = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)
_SLOW = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {want}\nAnalytical:\n{have}\n\nThe max per-element difference (slow mode) is: {difference}.\n"
)


def _unit(count: int, generator: Any) -> Any:
    drawn = aten.rand([count], generator=generator).to(float64)
    return drawn / drawn.norm()


class Projections:
    """The random directions along which fast mode looks at a Jacobian; the same ones for the same shapes, as in torch."""

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        generator = Generator()
        self.inputs = [
            (_unit(one.numel(), generator), _unit(one.numel(), generator) if one.dtype.is_complex else None)
            for one in inputs
        ]
        self.outputs = [(one.numel(), generator) for one in outputs]
        self._drawn: list[Any] | None = None

    def _output(self, number: int) -> Any:
        if self._drawn is None:
            self._drawn = [_unit(*given) for given in self.outputs]
        return self._drawn[number]

    def quantity(self, matrix: Any, output: int, place: int, forward: bool) -> Any:
        """Return what fast mode compares of the Jacobian of an output with respect to an input."""
        along, imaginary = self.inputs[place]
        if forward:
            return along @ matrix.to(float64)
        across = self._output(output)
        if imaginary is None:
            return (along @ matrix.to(float64) @ across).item()
        return complex((along @ aten.real(matrix) @ across).item(), (imaginary @ aten.imag(matrix) @ across).item())


def mismatch(have: Any, want: Any, output: int, place: int, projections: Projections | None, forward: bool) -> str:
    """Return the text for a Jacobian that is not the numerical one; with `projections` in the words of fast mode."""
    mode = "computed with forward mode " if forward else ""
    head = f"Jacobian {mode}mismatch for output {output} with respect to input {place},\n"
    if projections is None:
        return f"{head}numerical:{want}\nanalytical:{have}\n"
    difference = (want - have).abs().max().item()
    shown = [projections.quantity(matrix, output, place, forward) for matrix in (want, have)]
    slow = _SLOW.format(want=want, have=have, difference=difference)
    return f"{head}numerical:{shown[0]}\nanalytical:{shown[1]}\n{slow}"
