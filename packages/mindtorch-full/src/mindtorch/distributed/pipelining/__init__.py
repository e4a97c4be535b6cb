"""`torch.distributed.pipelining`: not offered: its names say so when they are used."""

from enum import Enum

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions


class SplitPoint(Enum):
    """Where a model is cut."""

    BEGINNING = 1
    END = 2


globals().update(functions(__name__, "build_stage pipe_split pipeline"))
globals().update(classes(__name__, "Pipe PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B"))

adopt(globals())
