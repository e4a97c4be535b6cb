"""Activation layers and multi-head attention."""

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules._elementwise import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    Mish,
    ReLU,
    ReLU6,
    RReLU,
    SiLU,
    Softplus,
    Softshrink,
    Threshold,
)
from mindtorch.nn.modules._elementwise import (
    _InplaceActivation as _InplaceActivation,
)
from mindtorch.nn.modules._multihead import MultiheadAttention
from mindtorch.nn.modules._prelu import PReLU
from mindtorch.nn.modules.module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    >>> torch.nn.Sigmoid()(torch.tensor([0.]))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return input.sigmoid()


class Tanh(Module):
    """tanh(x).

    >>> torch.nn.Tanh()(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return input.tanh()


class GLU(Module):
    """First half of ``dim`` times the sigmoid of the second.

    >>> torch.nn.GLU()(torch.tensor([1., 2., 0., 0.]))
    tensor([0.5000, 1.0000])
    """

    __constants__ = ["dim"]
    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor with ``dim`` halved."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class LogSigmoid(Module):
    """log(sigmoid(x)).

    >>> torch.nn.LogSigmoid()(torch.tensor([0.]))
    tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    >>> torch.nn.Softsign()(torch.tensor([1.]))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    >>> torch.nn.Tanhshrink()(torch.tensor([1.]))
    tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.tanhshrink(input)


class _OverDim(Module):
    """A normalization over one dimension."""

    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class Softmin(_OverDim):
    """exp(-x) normalized over ``dim``.

    >>> torch.nn.Softmin(dim=0)(torch.tensor([1., 2.]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_OverDim):
    """exp(x) normalized over ``dim``.

    The result has the shape of `input`; its numbers along `dim` are positive and of sum 1.

    >>> torch.nn.Softmax(dim=-1)(torch.tensor([1., 2., 3.]))
    tensor([0.0900, 0.2447, 0.6652])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_OverDim):
    """log of :class:`Softmax`.

    >>> torch.nn.LogSoftmax(dim=-1)(torch.tensor([1., 2., 3.]))
    tensor([-2.4076, -1.4076, -0.4076])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W).

    >>> torch.nn.Softmax2d()(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


adopt(globals())
