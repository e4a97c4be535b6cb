"""What `gradcheck` says of a wrong gradient."""

from __future__ import annotations

from typing import Any

Failure = tuple[int, int, Any, Any]
"""Output, input, numerical and analytical Jacobian."""

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


def mismatch(failed: Failure, mode: str = "") -> str:
    """Return the text for a Jacobian, or in fast mode a part of one, that is not the numerical one."""
    output, place, want, have = failed
    head = f"Jacobian {mode}mismatch for output {output} with respect to input {place},\n"
    return f"{head}numerical:{want}\nanalytical:{have}\n"


def recomputed(have: Any, want: Any) -> str:
    """Return what follows on a mismatch found in fast mode: the whole Jacobians."""
    return _SLOW.format(want=want, have=have, difference=(want - have).abs().max().item())
