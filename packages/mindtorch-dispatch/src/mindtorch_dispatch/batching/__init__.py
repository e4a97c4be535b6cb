"""`vmap`: calls on tensors that stand for one example of a batch.

levels      which batches are open in this thread, entering and leaving them
wrapper     the batched tensor: a value, where its batch dimension is, the level it belongs to
planning    the plan of an op call that meets batched tensors: by a rule, the op's parts, or a loop over slices
calls       how such a plan is run: computed on the values, recorded at the level
steps       the calls that a rule made, kept for the next call of the same geometry
known       what is known of a geometry that was met before
rules/      how each family of ops computes a whole batch at once
functions   batching of custom autograd functions
"""

from ..interface.batching import hooks
from . import rules as rules
from .levels import Batch, current, depth, open_level, transforming
from .planning import plan_batched
from .wrapper import escaped, is_batched, lifted, lifted_here, rewrapped, unwrapped, without_history, wrapped

__all__ = [
    "Batch",
    "current",
    "depth",
    "is_batched",
    "lifted",
    "lifted_here",
    "open_level",
    "rewrapped",
    "transforming",
    "unwrapped",
    "without_history",
    "wrapped",
]

hooks.plan = plan_batched
hooks.escaped = escaped
