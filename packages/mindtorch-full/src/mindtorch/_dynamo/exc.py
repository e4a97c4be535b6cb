"""`torch._dynamo.exc`: exceptions of torch's tracer. `torch.export` raises UserError, graphs that must be whole Unsupported, and
backends that fail BackendCompilerFailed; handlers name the others."""

from enum import Enum, auto
from typing import Any

from mindtorch._naming import adopt


class TorchDynamoException(RuntimeError):
    """An error of the tracer."""


class InternalTorchDynamoError(TorchDynamoException):
    """An error in the tracer itself."""


class Unsupported(TorchDynamoException):
    """A program cannot be traced."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """The functions of a higher order operator do what is not kept of them."""


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
    """A backend failed: its name, and what it raised as `inner_exception`."""

    def __init__(self, backend_fn: Any, inner_exception: Exception, first_useful_frame: Any = None) -> None:
        self.backend_name = getattr(backend_fn, "__name__", "?")
        super().__init__(
            f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}\n\n"
            "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if you're reporting a bug to "
            'PyTorch). For even more developer context, set TORCH_LOGS="+dynamo"\n'
        )
        self.inner_exception = inner_exception


class ResetRequired(TorchDynamoException):
    """What was traced must be forgotten first."""


class RecompileLimitExceeded(Unsupported):
    """A function was compiled too often."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """Tracing begins again."""


adopt(globals())
