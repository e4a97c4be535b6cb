"""`torch.backends.openmp`."""

import importlib.util

from mindtorch._naming import adopt


def is_available() -> bool:
    """Return whether kernels run in parallel through OpenMP: only when the native module is built."""
    return importlib.util.find_spec("mindtorch_cpu._native") is not None


adopt(globals())
