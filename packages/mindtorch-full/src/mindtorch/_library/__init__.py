"""`torch._library`: what `torch.library` stands on, under the names that some libraries import."""

from mindtorch._library import infer_schema as infer_schema
from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
