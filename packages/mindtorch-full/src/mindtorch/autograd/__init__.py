"""`torch.autograd`."""

from mindtorch_autograd.backward import backward, grad
from mindtorch_autograd.function import Function, NestedIOFunction
from mindtorch_autograd.mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch_autograd.mode import (
    preserved_version_counter as _unsafe_preserve_version_counter,  # noqa: F401 (a name of torch)
)
from mindtorch_autograd.running import is_checkpoint_valid as _is_checkpoint_valid  # noqa: F401 (a name of torch)

from .._C import _is_multithreading_enabled as is_multithreading_enabled  # noqa: F401 (a name of torch)
from .._C import _is_view_replay_enabled as is_view_replay_enabled  # noqa: F401 (a name of torch)
from .._C._autograd import SavedTensor as SavedTensor
from .._C._autograd import _disable_profiler as _disable_profiler
from .._C._autograd import _profiler_enabled as _profiler_enabled
from .._naming import adopt
from .._profiling.device import kineto_available as kineto_available
from .._profiling.record import _record_function_with_args_enter as _record_function_with_args_enter
from .._profiling.record import _record_function_with_args_exit as _record_function_with_args_exit
from . import (
    anomaly_mode as anomaly_mode,
)
from . import (
    forward_ad as forward_ad,
)
from . import (
    function as function,
)
from . import (
    functional as functional,
)
from . import (
    grad_mode,
)
from . import (
    graph as graph,
)
from . import (
    profiler as profiler,
)
from ._shapes import _calculate_shape as _calculate_shape
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .grad_mode import _force_original_view_tracking as _force_original_view_tracking
from .gradcheck import gradcheck, gradgradcheck
from .graph import _engine_run_backward as _engine_run_backward
from .variable import Variable, variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
adopt(globals())
