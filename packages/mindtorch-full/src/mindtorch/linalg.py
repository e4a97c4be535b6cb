"""Linear algebra."""

from mindtorch._op_namespaces import module_functions
from mindtorch_dispatch.errors import LinAlgError

__all__ = ["LinAlgError"]

__getattr__, __dir__ = module_functions(globals())
