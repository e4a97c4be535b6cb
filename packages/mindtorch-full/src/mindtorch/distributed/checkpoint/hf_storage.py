"""`torch.distributed.checkpoint.hf_storage`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes

globals().update(classes(__name__, "HuggingFaceStorageReader HuggingFaceStorageWriter"))

adopt(globals())
