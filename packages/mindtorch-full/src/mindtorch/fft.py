"""Discrete Fourier transforms."""

from typing import TYPE_CHECKING

from mindtorch._op_namespaces import module_functions

if TYPE_CHECKING:
    from mindtorch._operators.fft import *  # noqa: F403 - stubs of the names below (tools/stubs.py)

__getattr__, __dir__ = module_functions(globals(), "hfft2", "hfftn", "ihfft2", "ihfftn")
