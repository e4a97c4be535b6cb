"""Arguments of the legacy constructors that are sizes, and the error for those that fit no form."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.arguments.messages import invalid_combination_error, type_name
from mindtorch_storage.tensor_base import TensorBase

_FORMS = (
    "(*, torch.device device = None)",
    "(torch.Storage storage)",
    "(Tensor other)",
    "(tuple of ints size, *, torch.device device = None)",
    "(object data, *, torch.device device = None)",
)


def sizes_of(args: tuple[Any, ...]) -> list[int] | None:
    """Return the sizes that arguments are, None where the first one is none; TypeError where another one is none."""
    if not args or isinstance(args[0], bool) or not _is_size(args[0]):
        return None
    for place, arg in enumerate(args[1:], 2):
        if not _is_size(arg):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {place} with error \"type must be tuple of "
                f'ints,but got {type_name(arg)}"'
            )
    return [int(arg) for arg in args]


def _is_size(value: Any) -> bool:
    if isinstance(value, (int, np.integer)):
        return True
    if isinstance(value, TensorBase):
        return not value.shape and not value.dtype.is_floating_point and not value.dtype.is_complex
    return isinstance(value, np.ndarray) and not value.shape and issubclass(value.dtype.type, np.integer)


def no_form(args: tuple[Any, ...]) -> TypeError:
    """Return the error for several arguments that are no sizes."""
    return invalid_combination_error("new", args, {}, _FORMS)
