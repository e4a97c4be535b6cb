"""The chi-squared law."""

from __future__ import annotations

from typing import Any, ClassVar

from mindtorch._naming import adopt

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of ``df`` squared standard normal values.

    >>> torch.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive}  # type: ignore[assignment]

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch."""
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


adopt(globals())
