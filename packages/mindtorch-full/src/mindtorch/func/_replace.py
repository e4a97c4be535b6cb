"""The replacement of batch norm's running statistics."""

from __future__ import annotations

from typing import Any

from ..nn.modules.batchnorm import _BatchNorm


def _without_statistics(module: Any, name: str) -> None:
    if isinstance(module, _BatchNorm):
        module.running_mean = None
        module.running_var = None
        module.num_batches_tracked = None
        module.track_running_stats = False


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Make every batch norm in `root` use the statistics of its batch only, in place, and return `root`.

    >>> model = torch.func.replace_all_batch_norm_modules_(torch.nn.Sequential(torch.nn.BatchNorm1d(2)))
    >>> model[0].track_running_stats, model[0].running_mean
    (False, None)
    """
    _without_statistics(root, "base")
    for name, module in root.named_modules():
        _without_statistics(module, name)
    return root
