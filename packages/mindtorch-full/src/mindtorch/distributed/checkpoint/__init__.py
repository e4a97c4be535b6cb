"""`torch.distributed.checkpoint`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions

globals().update(functions(__name__, "async_save load load_state_dict save save_state_dict"))
globals().update(
    classes(
        __name__,
        "DefaultLoadPlanner DefaultSavePlanner FileSystemReader FileSystemWriter "
        "LoadPlanner SavePlanner StorageReader StorageWriter",
    )
)

adopt(globals())
