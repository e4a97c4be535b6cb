"""`torch.pipeline`: a block in which calls are recorded and run later, in order."""

from mindtorch_dispatch.pipeline import pipeline_context as pipeline

__all__ = ["pipeline"]
