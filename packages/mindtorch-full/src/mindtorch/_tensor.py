"""`Tensor`, and what makes tensors of subclasses again from a pickle."""

from typing import Any

import mindtorch
from mindtorch.tensor.tensor import Tensor

__all__ = ["Tensor"]

__named_by_proxy__ = True


def _rebuild_from_type_v2(func: Any, new_type: type, args: tuple[Any, ...], state: Any) -> Any:
    """Make a tensor with `func`, give it its class and the attributes that a program gave the original."""
    made = func(*args)
    if type(made) is not new_type:
        made = made.as_subclass(new_type)
    if type(made).__setstate__ is not Tensor.__setstate__:
        made.__setstate__(state)
        return made
    return mindtorch._utils._set_obj_state(made, state)
