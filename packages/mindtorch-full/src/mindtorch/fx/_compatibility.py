"""`torch.fx._compatibility`: a mark for the parts of `torch.fx` that stay as they are."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt

_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
"""What was marked as staying compatible."""
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}
"""What was marked at all."""


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """Return a decorator that says in an attribute whether a thing stays compatible."""

    def mark(fn: Any) -> Any:
        fn._backwards_compatible = is_backward_compatible
        _MARKED_WITH_COMPATIBILITY.setdefault(fn)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        return fn

    return mark


adopt(globals())
