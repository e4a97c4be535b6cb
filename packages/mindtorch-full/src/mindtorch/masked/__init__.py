"""Operations on the elements that a mask leaves."""

from mindtorch._naming import adopt

from . import _ops
from ._masks import _canonical_dim as _canonical_dim
from ._masks import _input_mask as _input_mask
from ._masks import _output_mask as _output_mask
from ._ops import *  # noqa: F403 - the names of its __all__
from ._ops import _combine_input_and_mask as _combine_input_and_mask
from ._ops import _reduction_identity as _reduction_identity
from ._ops import _where as _where
from .maskedtensor.core import MaskedTensor, is_masked_tensor
from .maskedtensor.creation import as_masked_tensor, masked_tensor

__all__ = [*_ops.__all__, "MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]


adopt(globals())
