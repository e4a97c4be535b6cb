"""`torch.distributed.checkpoint._consolidate_hf_safetensors`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

globals().update(functions(__name__, "consolidate_safetensors_files"))

adopt(globals())
