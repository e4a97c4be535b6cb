"""All parameters as one vector, and back."""

from collections.abc import Iterable

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return the values of all parameters in one vector.

    >>> torch.nn.utils.parameters_to_vector([torch.zeros(1, 2), torch.ones(1)])
    tensor([0., 0., 1.])
    """
    device = None
    pieces = []
    for param in parameters:
        device = _check_device(param, device)
        pieces.append(param.view(-1))
    return mindtorch.cat(pieces)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters views of consecutive pieces of ``vec``.

    >>> x = torch.nn.Parameter(torch.zeros(2))
    >>> torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0]), [x])
    >>> x.data
    tensor([1., 2.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {mindtorch.typename(vec)}")
    device = None
    start = 0
    for param in parameters:
        device = _check_device(param, device)
        size = param.numel()
        param.data = vec[start : start + size].view_as(param).data
        start += size


def _check_device(param: Tensor, device: int | None) -> int:
    """Return the device index of ``param`` (-1 on CPU); TypeError where it is not ``device``."""
    own = param.get_device() if param.device.type != "cpu" else -1
    if device is not None and own != device:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return own


adopt(globals())
