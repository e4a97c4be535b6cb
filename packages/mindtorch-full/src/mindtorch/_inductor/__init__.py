"""`torch._inductor`: what programs ask of torch's code generator. Compiling records calls instead, so nothing can be set."""

from typing import Any

from mindtorch._inductor import config, utils
from mindtorch._naming import adopt
from mindtorch.compiler import cudagraph_mark_step_begin
from mindtorch.compiler._eager import MODES, check_mode

__all__ = ["config", "cudagraph_mark_step_begin", "list_mode_options", "list_options", "utils"]


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """Return what the modes of `torch.compile` set, or one of them: nothing. Raises RuntimeError for an unknown one."""
    options: dict[str, dict[str, Any]] = {name: {} for name in MODES}
    if not mode:
        return options
    check_mode(mode)
    return options[mode]


def list_options() -> list[str]:
    """Return the names of the options that `torch.compile(options=)` knows: none."""
    return []


adopt(globals())
