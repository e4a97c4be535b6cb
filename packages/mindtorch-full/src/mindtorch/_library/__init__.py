"""`torch._library`: what `torch.library` stands on, under the names that some libraries import."""

from mindtorch._library import infer_schema as infer_schema
from mindtorch._library import simple_registry as simple_registry
from mindtorch._library import utils as utils
from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
