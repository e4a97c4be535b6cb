"""What gradient scaling is made of."""

from ..decomp import amp as composed
from ..table import op

op(
    "_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> ()",
    composite=composed.unscale_,
    variants="function",
)
op(
    "_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float scale_growth_factor, "
    "float scale_backoff_factor, int growth_interval) -> Tensor(a!)",
    composite=composed.update_scale_,
    variants="function",
)
