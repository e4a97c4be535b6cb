"""Activation functions; those without options are bound straight to their ops by the package."""

import warnings
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten
from mindtorch_dispatch.frames import frames_up


def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Keep values above ``threshold`` and replace the others by ``value``.

    >>> torch.nn.functional.threshold(torch.tensor([0.5, 2.]), 1., 20.)
    tensor([20.,  2.])
    """
    if inplace:
        return aten.threshold_(input, threshold, value)
    return aten.threshold(input, threshold, value)


threshold = _threshold


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(x, 0).

    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return aten.relu_(input) if inplace else aten.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x clipped to [0, 6].

    >>> torch.nn.functional.relu6(torch.tensor([-1., 8.]))
    tensor([0., 6.])
    """
    return aten.relu6_(input) if inplace else aten.relu6(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half of ``dim`` times the sigmoid of the second.

    >>> torch.nn.functional.glu(torch.tensor([1., 2., 0., 0.]))
    tensor([0.5000, 1.0000])
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return aten.glu(input, dim)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x clipped to [``min_val``, ``max_val``].

    >>> torch.nn.functional.hardtanh(torch.tensor([-3., 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return aten.hardtanh_(input, min_val, max_val)
    return aten.hardtanh(input, min_val, max_val)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x where positive, else alpha * (exp(x) - 1).

    >>> torch.nn.functional.elu(torch.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    return aten.elu_(input, alpha) if inplace else aten.elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ELU scaled so that activations normalize themselves.

    >>> torch.nn.functional.selu(torch.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    return aten.selu_(input) if inplace else aten.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x where positive, else alpha * (exp(x / alpha) - 1).

    >>> torch.nn.functional.celu(torch.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    return aten.celu_(input, alpha) if inplace else aten.celu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x where positive, else negative_slope * x.

    >>> torch.nn.functional.leaky_relu(torch.tensor([-1., 2.]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    if inplace:
        return aten.leaky_relu_(input, negative_slope)
    return aten.leaky_relu(input, negative_slope)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return leaky ReLU with a slope drawn between ``lower`` and ``upper`` in training, their mean otherwise.

    >>> torch.nn.functional.rrelu(torch.tensor([-8., 2.]), 0.25, 0.25)
    tensor([-2.,  2.])
    """
    op = aten.rrelu_ if inplace else aten.rrelu
    return op(input, lower, upper, training)


def tanhshrink(input: Tensor) -> Tensor:
    """Return x - tanh(x).

    >>> torch.nn.functional.tanhshrink(torch.tensor([-1., 1.]))
    tensor([-0.2384,  0.2384])
    """
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """Return x / (1 + |x|).

    >>> torch.nn.functional.softsign(torch.tensor([-1., 1.]))
    tensor([-0.5000,  0.5000])
    """
    return input / (input.abs() + 1)


def tanh(input: Tensor) -> Tensor:
    """Return tanh(x).

    >>> torch.nn.functional.tanh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x)).

    >>> torch.nn.functional.sigmoid(torch.tensor([0.]))
    tensor([0.5000])
    """
    return input.sigmoid()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return relu6(x + 3) / 6.

    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4., 0., 4.]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return aten.hardsigmoid_(input) if inplace else aten.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * relu6(x + 3) / 6.

    >>> torch.nn.functional.hardswish(torch.tensor([-4., 0., 4.]))
    tensor([-0., 0., 4.])
    """
    return aten.hardswish_(input) if inplace else aten.hardswish(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * sigmoid(x).

    >>> torch.nn.functional.silu(torch.tensor([-1., 1.]))
    tensor([-0.2689,  0.7311])
    """
    return aten.silu_(input) if inplace else aten.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * tanh(softplus(x)).

    >>> torch.nn.functional.mish(torch.tensor([-1., 1.]))
    tensor([-0.3034,  0.8651])
    """
    return aten.mish_(input) if inplace else aten.mish(input)


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """Return the dimension that the softmax family took before ``dim`` became an argument, with a warning."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=frames_up(stacklevel),
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Return exp(-x) normalized over ``dim``; ``dtype`` casts the input first.

    >>> torch.nn.functional.softmin(torch.tensor([1., 2., 3.]), dim=0)
    tensor([0.6652, 0.2447, 0.0900])
    """
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim(), _stacklevel)
    negated = -input
    return negated.softmax(dim) if dtype is None else negated.softmax(dim, dtype=dtype)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Return exp(x) normalized over ``dim``; ``dtype`` casts the input first.

    >>> torch.nn.functional.softmax(torch.tensor([1., 2., 3.]), dim=0)
    tensor([0.0900, 0.2447, 0.6652])
    """
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim(), _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Return the logarithm of :func:`softmax`.

    >>> torch.nn.functional.log_softmax(torch.tensor([1., 2., 3.]), dim=0)
    tensor([-2.4076, -1.4076, -0.4076])
    """
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim(), _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Return samples of the Gumbel-softmax distribution; one-hot with straight-through gradient if ``hard``.

    >>> torch.nn.functional.gumbel_softmax(torch.tensor([[1., 2., 3.]]), hard=True).sum()
    tensor(1.)
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=frames_up(2))
    noise = mindtorch.empty_like(logits, memory_format=mindtorch.contiguous_format).exponential_().log()
    soft = ((logits - noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    zeros = mindtorch.zeros_like(logits, memory_format=mindtorch.contiguous_format)
    return zeros.scatter_(dim, index, 1.0) - soft.detach() + soft
