"""`torch._dynamo.eval_frame`: the type of compiled modules, of which there are none."""

from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.nn.modules.module import Module


class OptimizedModule(Module):
    """A module made by `torch.compile`. Here compiling returns the module itself, so nothing is one."""

    def __init__(self, mod: Any, dynamo_ctx: Any = None) -> NoReturn:
        raise NotImplementedError("there is no compiler: torch.compile(module) returns the module itself")


adopt(globals())
