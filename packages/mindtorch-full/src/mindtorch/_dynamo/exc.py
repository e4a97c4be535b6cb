"""`torch._dynamo.exc`: exceptions of torch's tracer. `torch.export` raises UserError; of the others nothing is raised, handlers
name them."""

from enum import Enum, auto

from mindtorch._naming import adopt


class TorchDynamoException(RuntimeError):
    """An error of the tracer."""


class InternalTorchDynamoError(TorchDynamoException):
    """An error in the tracer itself."""


class Unsupported(TorchDynamoException):
    """A program cannot be traced."""


class UserErrorType(Enum):
    """What is wrong with what a program asks for."""

    DYNAMIC_CONTROL_FLOW = auto()
    ANTI_PATTERN = auto()
    STANDARD_LIBRARY = auto()
    CONSTRAINT_VIOLATION = auto()
    DYNAMIC_DIM = auto()
    INVALID_INPUT = auto()
    INVALID_OUTPUT = auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = auto()


class UserError(Unsupported):
    """A program asks for what cannot be traced."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name: str | None = None) -> None:
        super().__init__(msg)
        self.error_type = error_type
        self.msg = self.message = msg
        self.case_name = case_name


class BackendCompilerFailed(TorchDynamoException):
    """A compiler failed."""


class ResetRequired(TorchDynamoException):
    """What was traced must be forgotten first."""


class RecompileLimitExceeded(Unsupported):
    """A function was compiled too often."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """Tracing begins again."""


adopt(globals())
