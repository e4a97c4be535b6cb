"""`torch.distributed.checkpoint.state_dict`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions

globals().update(
    functions(
        __name__,
        "get_model_state_dict get_optimizer_state_dict get_state_dict "
        "set_model_state_dict set_optimizer_state_dict set_state_dict",
    )
)
globals().update(classes(__name__, "StateDictOptions"))

adopt(globals())
