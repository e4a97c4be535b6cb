"""`vmap`: calls on tensors that stand for one example of a batch.

levels      which batches are open in this thread, entering and leaving them
wrapper     the batched tensor: a value, where its batch dimension is, the level it belongs to
calls       what becomes of an op call that meets batched tensors: a rule, the op's parts, or a loop over slices
rules/      how each family of ops computes a whole batch at once
functions   batching of custom autograd functions
"""

from ..interface.batching import hooks
from . import rules as rules
from .calls import plan_batched
from .levels import Batch, current, depth, open_level, transforming
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
