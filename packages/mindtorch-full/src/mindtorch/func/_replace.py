"""`functionalize` and the replacement of batch norm's running statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.modules.batchnorm import _BatchNorm


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return `func`: what it computes is the same with and without writes in place, and only tracing sees them."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove=. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced\n"
            "        with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be\n"
            "        replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    return func


def _without_statistics(module: Any, name: str) -> None:
    if isinstance(module, _BatchNorm):
        module.running_mean = None
        module.running_var = None
        module.num_batches_tracked = None
        module.track_running_stats = False


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Make every batch norm in `root` use the statistics of its batch only, in place, and return `root`."""
    _without_statistics(root, "base")
    for name, module in root.named_modules():
        _without_statistics(module, name)
    return root
