"""Filling of tensors with initial values. All functions work in place, without gradient, and return the tensor."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._overridable import make_overridable
from mindtorch._tensor import Tensor
from mindtorch_dispatch.frames import frames_up

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    with mindtorch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    with mindtorch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    with mindtorch.no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    with mindtorch.no_grad():
        return tensor.zero_()


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any = None
) -> Tensor:
    if (mean < a - 2 * std) or (mean > b + 2 * std):
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=frames_up(3),
        )
    with mindtorch.no_grad():
        if _probability_between(mean, std, a, b) > _REJECTION_PAYS:
            return _from_normal_proposals(tensor, mean, std, a, b, generator)
        return _from_uniform_proposals(tensor, mean, std, a, b, generator)


# Above this probability of a normal value to lie between the bounds, normal proposals are drawn, else uniform ones.
_REJECTION_PAYS = 0.3


def _probability_between(mean: float, std: float, a: float, b: float) -> float:
    def cdf(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    return cdf((b - mean) / std) - cdf((a - mean) / std)


def _from_normal_proposals(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Draw normal values until all are inside; each round draws a whole tensor and uses it where it is needed."""
    tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (tensor < a) | (tensor > b)
        if not outside.any():
            return tensor
        redrawn = mindtorch.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(mindtorch.where(outside, redrawn, tensor))


def _from_uniform_proposals(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Draw uniform values, accepting each with its density relative to the highest one between the bounds."""
    mode = (min(max(mean, a), b) - mean) / std
    pending = mindtorch.ones_like(tensor, dtype=mindtorch.bool)
    while True:
        proposal = mindtorch.empty_like(tensor).uniform_(a, b, generator=generator)
        threshold = mindtorch.empty_like(tensor).uniform_(generator=generator)
        z = (proposal - mean) / std
        accepted = threshold <= mindtorch.exp((mode**2 - z * z) / 2)
        tensor.copy_(mindtorch.where(pending, proposal, tensor))
        pending &= ~accepted
        if not pending.any():
            return tensor


def calculate_gain(nonlinearity: str, param: int | float | None = None) -> float:
    """Return the factor by which ``nonlinearity`` asks weights to be scaled.

    >>> torch.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with values uniform in [a, b).

    >>> torch.nn.init.uniform_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal values.

    >>> torch.nn.init.normal_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    return _no_grad_normal_(tensor, mean, std, generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fill with normal values, drawn again until they lie in [a, b].

    >>> torch.nn.init.trunc_normal_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    return _no_grad_trunc_normal_(tensor, mean, std, a, b, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with ``val``.

    >>> torch.nn.init.constant_(torch.empty(2), 3.)
    tensor([3., 3.])
    """
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    return _no_grad_zero_(tensor)


def eye_(tensor: Tensor) -> Tensor:
    """Make a 2-dimensional tensor the identity.

    >>> torch.nn.init.eye_(torch.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with mindtorch.no_grad():
        mindtorch.eye(*tensor.shape, out=tensor, requires_grad=tensor.requires_grad)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make a 3- to 5-dimensional convolution weight pass its inputs through, in each of ``groups`` groups.

    >>> torch.nn.init.dirac_(torch.empty(2, 2, 1)).shape
    torch.Size([2, 2, 1])
    """
    dimensions = tensor.ndimension()
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = sizes[0] // groups
    centre = tuple(size // 2 for size in sizes[2:])
    with mindtorch.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, sizes[1])):
                tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return how many inputs feed an output of the weight, and how many outputs an input feeds."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill uniformly so that the variance suits both directions (Glorot).

    >>> torch.nn.init.xavier_uniform_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal values so that the variance suits both directions (Glorot).

    >>> torch.nn.init.xavier_normal_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return _no_grad_normal_(tensor, 0.0, std, generator)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return the fan that ``mode`` names."""
    mode = mode.lower()
    valid_modes = ["fan_in", "fan_out"]
    if mode not in valid_modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {valid_modes}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """Return the standard deviation of He's values; None, with a warning, where there is nothing to fill."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=frames_up(3))
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill uniformly so that the variance survives ``nonlinearity`` (He); ``a`` is leaky_relu's slope.

    >>> torch.nn.init.kaiming_uniform_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with normal values so that the variance survives ``nonlinearity`` (He).

    >>> torch.nn.init.kaiming_normal_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else _no_grad_normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a random (semi-)orthogonal matrix; dimensions after the first are joined.

    >>> torch.nn.init.orthogonal_(torch.empty(2, 2)).shape
    torch.Size([2, 2])
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    flattened = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
    if rows < cols:
        flattened.t_()
    q, r = mindtorch.linalg.qr(flattened)
    # The sign of R's diagonal makes the distribution uniform over orthogonal matrices.
    q *= mindtorch.diag(r, 0).sign()
    if rows < cols:
        q.t_()
    with mindtorch.no_grad():
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal values, of which each column has the fraction ``sparsity`` set to zero.

    >>> (torch.nn.init.sparse_(torch.empty(4, 3), 0.5) == 0).sum(0)
    tensor([2, 2, 2])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with mindtorch.no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            row_indices = mindtorch.randperm(rows)
            tensor[row_indices[:zeros], col] = 0
    return tensor


def _make_deprecate(meth: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return ``meth`` under its name without the underscore, which warns."""
    new_name = meth.__name__
    old_name = new_name[:-1]

    def deprecated(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{new_name}`.",
            FutureWarning,
            stacklevel=frames_up(2),
        )
        return meth(*args, **kwargs)

    deprecated.__name__ = old_name
    deprecated.__doc__ = (
        f"The former name of :func:`{new_name}`.\n\n"
        f">>> torch.nn.init.{old_name}.__name__, torch.nn.init.{new_name}.__name__\n{(old_name, new_name)}"
    )
    return deprecated


uniform = _make_deprecate(uniform_)
normal = _make_deprecate(normal_)
constant = _make_deprecate(constant_)
eye = _make_deprecate(eye_)
dirac = _make_deprecate(dirac_)
xavier_uniform = _make_deprecate(xavier_uniform_)
xavier_normal = _make_deprecate(xavier_normal_)
kaiming_uniform = _make_deprecate(kaiming_uniform_)
kaiming_normal = _make_deprecate(kaiming_normal_)
orthogonal = _make_deprecate(orthogonal_)
sparse = _make_deprecate(sparse_)

adopt(globals())
make_overridable(globals(), ("uniform_", "normal_", "constant_", "kaiming_uniform_"), positional=False)
