"""Planning: what a call means, worked out once per geometry. Here is the plan itself; `planner` makes it."""

from .plan import Plan, opaque_types, plain_types, set_tensor_class, wrapping_types

__all__ = ["Plan", "opaque_types", "plain_types", "set_tensor_class", "wrapping_types"]
