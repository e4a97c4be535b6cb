"""`torch._dynamo.backends.common`: a backend of compilers of aten's operators, one for the forward and one for the backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._functorch.aot_autograd import aot_module_simplified
from mindtorch._naming import adopt

__all__ = ["aot_autograd"]


def aot_autograd(**kwargs: Any) -> Callable[..., Any]:
    """Return a backend that has graphs of aten's operators compiled: `fw_compiler`, `bw_compiler` and more, by name.

    >>> from torch._dynamo.backends.common import aot_autograd
    >>> backend = aot_autograd(fw_compiler=lambda graph, inputs: graph.forward)
    >>> torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.zeros(2))
    tensor([1., 1.])
    """

    def compiler(gm: Any, example_inputs: Any, **options: Any) -> Any:
        return aot_module_simplified(gm, example_inputs, **kwargs)

    return compiler


adopt(globals())
