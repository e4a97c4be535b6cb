"""Operators that exist for tests of what torch's operators have in common."""

from ..decomp import lazy_clone, view_copy
from ..decomp import testing as composed
from ..table import op

op(
    "_test_parallel_materialize(Tensor self, int num_parallel, bool skip_first=False) -> Tensor",
    composite=lazy_clone.materialized_in_parallel,
    variants="function",
)
op("_test_check_tensor(Tensor self) -> Tensor", composite=composed.checked, variants="function")
op("_test_warn_in_autograd(Tensor self) -> Tensor", composite=composed.copied, variants="nn")
op(
    "_test_autograd_multiple_dispatch.fullcoverage(Tensor self) -> Tensor",
    composite=composed.copied,
    variants="function",
)
op(
    "_test_autograd_multiple_dispatch.ntonly(Tensor self, bool b) -> Tensor",
    composite=composed.copied,
    variants="function",
)
op(
    "_test_autograd_multiple_dispatch_view(Tensor(a) self) -> Tensor(a)",
    composite=composed.flat,
    variants="function",
)
op(
    "_test_autograd_multiple_dispatch_view_copy(Tensor self) -> Tensor",
    composite=view_copy.copy_of("_test_autograd_multiple_dispatch_view"),
    variants="function",
)
