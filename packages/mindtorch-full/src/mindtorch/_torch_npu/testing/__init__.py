"""`torch_npu.testing`: what test suites for Ascend devices use."""

from mindtorch._torch_npu.testing import (
    common_distributed,
    common_methods_invocations,
    common_utils,
    decorator,
    testcase,
)

__all__ = ["common_distributed", "common_methods_invocations", "common_utils", "decorator", "testcase"]
