"""Averages of parameters among few processes often, among many seldom."""

from __future__ import annotations

import logging
import warnings
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.model_averaging import averagers, utils

_log = logging.getLogger(__name__)


class HierarchicalModelAverager(averagers.ModelAverager):
    """Averages among groups of each size every so many steps, after the first `warmup_steps`: `{steps: size}`.

    The largest number of steps that divides the step is the one that counts; its group is the largest, too.
    """

    def __init__(
        self,
        period_group_size_dict: OrderedDict[int, int] | None = None,
        warmup_steps: int = 0,
        process_group: Any = None,
    ) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        self._periods = list(period_group_size_dict)
        if self._periods[0] <= 0:
            raise ValueError("The minimum period in arg ``period_group_size_dict`` must be a positive value.")
        if self._periods[-1] == 1:
            warnings.warn(
                "When the maximum period in arg ``period_group_size_dict`` is 1, "
                "no need to use model averaging because the communication cost "
                "of all-reducing parameters will be no less than the cost of all-reducing gradients "
                "by DistributedDataParallel in the backward pass. Therefore, only "
                "DistributedDataParallel should be used for this case.",
                stacklevel=2,
            )
        whole, last = dist.get_world_size(group=self.process_group), list(period_group_size_dict.values())[-1]
        if last != whole:
            raise ValueError(
                f"The last value in arg ``period_group_size_dict`` {last} "
                f"must be equal to the size of arg ``process_group`` {whole}."
            )
        self.period_process_group_dict: OrderedDict[int, Any] = OrderedDict()
        for period, size in period_group_size_dict.items():
            _log.info("%s processes average every %s steps, where no larger group does", size, period)
            self.period_process_group_dict[period] = self._group_of(size, whole)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps

    def _group_of(self, size: int, whole: int) -> Any:
        if size == whole:
            return self.process_group
        return dist.new_subgroups(group_size=size, group=self.process_group)[0]

    def _find_process_group(self) -> Any:
        """Return the group that averages at this step, or None."""
        for period in reversed(self._periods):
            if self.step % period == 0:
                return self.period_process_group_dict[period]
        return None

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average, if it is time, and count a step."""
        group = self._find_process_group() if self.step >= self.warmup_steps else None
        if group is not None:
            utils.average_parameters_or_parameter_groups(params, group)
        self.step += 1


adopt(globals())
