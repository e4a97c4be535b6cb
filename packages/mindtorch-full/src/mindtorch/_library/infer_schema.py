"""`torch._library.infer_schema`: the schema of a function, read from its annotations."""

from mindtorch._naming import adopt
from mindtorch.library._inference import infer_schema, parameter_types, return_types
from mindtorch.library._inference import tuple_to_list as tuple_to_list

__all__ = ["infer_schema"]

SUPPORTED_PARAM_TYPES = parameter_types()
SUPPORTED_RETURN_TYPES = return_types()

adopt(globals())
