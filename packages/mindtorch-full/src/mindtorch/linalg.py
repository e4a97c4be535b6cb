"""Linear algebra."""

from typing import TYPE_CHECKING

from mindtorch._op_namespaces import module_functions
from mindtorch_dispatch.errors import LinAlgError

__all__ = ["LinAlgError"]

if TYPE_CHECKING:
    from mindtorch._operators.linalg import *  # noqa: F403 - stubs of the names below (tools/stubs.py)

__getattr__, __dir__ = module_functions(globals())
