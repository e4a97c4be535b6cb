"""Operations on the elements that a mask leaves."""

from typing import Any

from mindtorch._naming import adopt

from ._masks import _canonical_dim as _canonical_dim
from ._masks import _input_mask as _input_mask
from ._masks import _output_mask as _output_mask
from ._ops import _reduction_identity as _reduction_identity
from ._ops import _where as _where
from ._ops import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether a value is a tensor that carries its mask; there are none here."""
    return False


adopt(globals())
