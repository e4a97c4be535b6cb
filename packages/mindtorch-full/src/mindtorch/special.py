"""Special functions."""

from mindtorch._op_namespaces import module_functions

__getattr__, __dir__ = module_functions(globals())
