"""`torch.fx._compatibility`: a mark for the parts of `torch.fx` that stay as they are."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """Return a decorator that says in an attribute whether a thing stays compatible."""

    def mark(fn: Any) -> Any:
        fn._backwards_compatible = is_backward_compatible
        return fn

    return mark


adopt(globals())
