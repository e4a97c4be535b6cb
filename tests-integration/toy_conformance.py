"""Every check of the conformance suite on the toy backend, and torch's ways to name such a device; run as a program.

A process of its own, as a device type that is registered stays.
"""

import sys
from collections import Counter
from types import ModuleType

import toy_backend

import mindtorch
from mindtorch_testing import conformance


def names() -> None:
    """What torch offers around the device's name."""
    mindtorch.utils.rename_privateuse1_backend(toy_backend.NAME)
    mindtorch.utils.generate_methods_for_privateuse1_backend()
    module = ModuleType("torch.toy")
    mindtorch._register_device_module(toy_backend.NAME, module)
    assert mindtorch.toy is module
    assert mindtorch.ones(2).toy().is_toy
    assert not mindtorch.ones(2).is_toy
    assert mindtorch.nn.Linear(2, 2).toy().weight.device == mindtorch.device("toy", 0)
    assert mindtorch.device("privateuseone").type == "toy"


def main(ops: list[str]) -> int:
    """Run the checks of `ops`, of all without any; print what failed and return 1 when something did."""
    toy_backend.install()
    names()
    counts: Counter[str] = Counter()
    for check in conformance.checks(toy_backend.NAME, ops=ops or None):
        try:
            check.run()
        except conformance.NotApplicable:
            counts["not applicable"] += 1
        except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            counts["failed"] += 1
            print(f"{check}: {type(error).__name__}: {error}")
        else:
            counts["passed"] += 1
    print(dict(counts))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
