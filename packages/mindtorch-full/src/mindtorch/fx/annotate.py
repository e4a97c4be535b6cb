"""`torch.fx.annotate`: types for traced values."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx.proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """Give the node of a traced value a type and return the value; anything else is returned as it is.

    Raises:
        RuntimeError: the node has a type already.

    >>> from torch.fx.annotate import annotate
    >>> annotate(torch.ones(1), torch.Tensor)
    tensor([1.])
    """
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                f"Tried to annotate a value that already had a type on it! Existing type is {val.node.type} and new type is "
                f"{type}. This could happen if you tried to annotate a function parameter value (in which case you should "
                "use the type slot on the function signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val


adopt(globals())
