"""Operators for tests of what gradients have in common."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative


def _warned(grad: Tensor) -> Any:
    warnings.warn("Warn from backward", UserWarning, stacklevel=frames_to_caller())
    return grad


def _shaped(grad: Tensor, self_spec: Spec) -> Any:
    return grad.reshape(self_spec.shape)


derivative("_test_warn_in_autograd", self=_warned)
derivative("_test_autograd_multiple_dispatch.fullcoverage", self=lambda grad: grad + 1)
derivative("_test_autograd_multiple_dispatch_view", self=_shaped)
derivative("_test_autograd_multiple_dispatch_view_copy", self=_shaped)
