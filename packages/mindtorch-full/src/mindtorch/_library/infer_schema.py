"""`torch._library.infer_schema`: the schema of a function, read from its annotations."""

from mindtorch._naming import adopt
from mindtorch.library._inference import infer_schema
from mindtorch.library._inference import tuple_to_list as tuple_to_list

__all__ = ["infer_schema"]

adopt(globals())
