"""`torch._dynamo._trace_wrapped_higher_order_op`: the one name of it that libraries use."""

from typing import Any

from mindtorch._naming import adopt


class TransformGetItemToIndex:
    """Context manager inside which indexing with tensors is an operator. Here it always is, so it does nothing."""

    def __enter__(self) -> "TransformGetItemToIndex":
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        return None


adopt(globals())
