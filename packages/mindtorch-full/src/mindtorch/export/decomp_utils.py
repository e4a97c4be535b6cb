"""`torch.export.decomp_utils`: the table of operators that `run_decompositions` takes apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._decomp import core_aten_decompositions
from mindtorch._naming import adopt
from mindtorch_dispatch.override.interception import has_own_kernel
from mindtorch_dispatch.table import packets

__all__ = ["CustomDecompTable"]


class CustomDecompTable(dict[Any, Callable[..., Any]]):
    """Functions by operator: all composed operators, and the operators that are not of the core set.

    What is taken out of the table stays whole in a program.

    >>> torch.export.default_decompositions().__class__.__name__
    'CustomDecompTable'
    """

    def __init__(self) -> None:
        super().__init__(core_aten_decompositions())
        for packet in list(packets.values()):
            for row in packet.rows:
                if row.composite is None or row.schema.namespace != "aten":
                    continue
                overload = getattr(getattr(torch.ops.aten, packet.name), row.overload or "default")
                if overload._can_decompose() and not has_own_kernel(row):
                    self.setdefault(overload, overload.decompose)

    def materialize(self) -> dict[Any, Callable[..., Any]]:
        """Return the table as a plain dictionary."""
        return dict(self)

    def copy(self) -> CustomDecompTable:
        """Return another table with the same functions."""
        made = CustomDecompTable.__new__(CustomDecompTable)
        made.update(self)
        return made


adopt(globals())
