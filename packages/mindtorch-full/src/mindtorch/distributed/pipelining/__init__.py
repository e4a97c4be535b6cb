"""`torch.distributed.pipelining`: a model's layers spread over processes, which work on parts of a batch in turn."""

from mindtorch._naming import adopt
from mindtorch.distributed.pipelining import microbatch as microbatch
from mindtorch.distributed.pipelining import schedules as schedules
from mindtorch.distributed.pipelining import stage as stage
from mindtorch.distributed.pipelining._IR import Pipe as Pipe
from mindtorch.distributed.pipelining._IR import SplitPoint as SplitPoint
from mindtorch.distributed.pipelining._IR import build_stage as build_stage
from mindtorch.distributed.pipelining._IR import pipe_split as pipe_split
from mindtorch.distributed.pipelining._IR import pipeline as pipeline
from mindtorch.distributed.pipelining.schedules import Schedule1F1B as Schedule1F1B
from mindtorch.distributed.pipelining.schedules import ScheduleDualPipeV as ScheduleDualPipeV
from mindtorch.distributed.pipelining.schedules import ScheduleGPipe as ScheduleGPipe
from mindtorch.distributed.pipelining.schedules import ScheduleInterleaved1F1B as ScheduleInterleaved1F1B
from mindtorch.distributed.pipelining.schedules import ScheduleInterleavedZeroBubble as ScheduleInterleavedZeroBubble
from mindtorch.distributed.pipelining.schedules import ScheduleLoopedBFS as ScheduleLoopedBFS
from mindtorch.distributed.pipelining.schedules import ScheduleZBVZeroBubble as ScheduleZBVZeroBubble
from mindtorch.distributed.pipelining.stage import PipelineStage as PipelineStage

__all__ = [
    "Pipe",
    "PipelineStage",
    "Schedule1F1B",
    "ScheduleDualPipeV",
    "ScheduleGPipe",
    "ScheduleInterleaved1F1B",
    "ScheduleInterleavedZeroBubble",
    "ScheduleLoopedBFS",
    "ScheduleZBVZeroBubble",
    "SplitPoint",
    "build_stage",
    "pipe_split",
    "pipeline",
]

adopt(globals())
