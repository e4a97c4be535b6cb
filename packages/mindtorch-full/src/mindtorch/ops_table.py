"""`aten`: the built-in operators by name, `aten.layer_norm(...)`, as the op table declares them."""

import mindtorch_autograd.derivatives
import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
import mindtorch_dispatch.ops  # noqa: F401 (declares the rows)
from mindtorch._backends import is_installed, load_backend, load_runtime
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.interface.wiring import wired

__all__ = ["aten"]

wired.load_backend, wired.backend_installed = load_backend, is_installed

load_runtime()

DERIVATIVE_FAMILIES = mindtorch_autograd.derivatives.FAMILIES
