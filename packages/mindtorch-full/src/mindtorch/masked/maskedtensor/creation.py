"""Functions that make tensors with masks."""

from __future__ import annotations

from mindtorch._naming import adopt

from .core import MaskedTensor

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: object, mask: object, requires_grad: bool = False) -> MaskedTensor:
    """Return a leaf of a copy of data and a mask; TypeError or ValueError where they do not fit, a warning where data
    has a history.

    >>> torch.masked.masked_tensor(torch.arange(3), torch.tensor([True, False, True]))
    MaskedTensor(
      [0,       --, 2]
    )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: object, mask: object) -> MaskedTensor:
    """Return a tensor of data and a mask, through which gradients flow to the data.

    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.masked.as_masked_tensor(x, torch.tensor([True, False])).sum().backward()
    >>> x.grad
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    return MaskedTensor._from_values(data, mask)


adopt(globals())
