"""Conformance of a backend: what must hold of every op on its device, without torch being installed.

A backend author runs every check on the samples of the ops the backend has:

    @pytest.mark.parametrize("check", conformance.checks("npu"), ids=str)
    def test_conformance(check):
        check.run()

`run` returns when the rule holds, raises `NotApplicable` (a `pytest.skip` of your choice) when the rule has nothing to
say about the op, and AssertionError with the reason otherwise.
"""

from mindtorch_testing.conformance.checks import RULES, Check, NotApplicable, checks

__all__ = ["RULES", "Check", "NotApplicable", "checks"]
