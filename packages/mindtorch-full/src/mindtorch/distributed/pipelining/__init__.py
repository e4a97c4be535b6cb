"""`torch.distributed.pipelining`: a model's layers spread over processes, which work on parts of a batch in turn."""

from enum import Enum

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions
from mindtorch.distributed.pipelining import microbatch as microbatch
from mindtorch.distributed.pipelining import schedules as schedules
from mindtorch.distributed.pipelining import stage as stage
from mindtorch.distributed.pipelining.schedules import Schedule1F1B as Schedule1F1B
from mindtorch.distributed.pipelining.schedules import ScheduleGPipe as ScheduleGPipe
from mindtorch.distributed.pipelining.stage import PipelineStage as PipelineStage


class SplitPoint(Enum):
    """Where a model is cut."""

    BEGINNING = 1
    END = 2


globals().update({name: value for name, value in vars(schedules).items() if name.startswith("Schedule")})
globals().update(functions(__name__, "build_stage pipe_split pipeline"))
globals().update(classes(__name__, "Pipe"))

adopt(globals())
