"""`torch._dynamo.exc`: exceptions of the tracer, for handlers to name. Nothing is traced, so nothing raises them."""

from mindtorch._naming import adopt


class TorchDynamoException(RuntimeError):
    """An error of the tracer."""


class InternalTorchDynamoError(TorchDynamoException):
    """An error in the tracer itself."""


class Unsupported(TorchDynamoException):
    """A program cannot be traced."""


class UserError(Unsupported):
    """A program asks for what cannot be traced."""


class BackendCompilerFailed(TorchDynamoException):
    """A compiler failed."""


class ResetRequired(TorchDynamoException):
    """What was traced must be forgotten first."""


class RecompileLimitExceeded(Unsupported):
    """A function was compiled too often."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """Tracing begins again."""


adopt(globals())
