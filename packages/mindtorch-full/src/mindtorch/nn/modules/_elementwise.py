"""Activations with parameters fixed at construction; public through ``nn.modules.activation``."""

import warnings

from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module


class _Inplace(Module):
    """An activation whose only option is to overwrite its input, which its text does not show."""

    __constants__ = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _InplaceActivation(_Inplace):
    """An activation whose only option is to overwrite its input."""

    def extra_repr(self) -> str:
        """Return ``inplace=True``, or nothing."""
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """Keeps values above ``threshold`` and replaces the others by ``value``.

    >>> torch.nn.Threshold(0.5, 9.0)(torch.tensor([0.0, 1.0]))
    tensor([9., 1.])
    """

    __constants__ = ["threshold", "value", "inplace"]
    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class ReLU(_InplaceActivation):
    """max(x, 0).

    `inplace=True` changes the input itself.

    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.relu(input, inplace=self.inplace)


class RReLU(Module):
    """Leaky ReLU whose slope is drawn between ``lower`` and ``upper`` while training.

    >>> torch.nn.RReLU(0.5, 0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    __constants__ = ["lower", "upper", "inplace"]
    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class Hardtanh(Module):
    """Clips to [``min_val``, ``max_val``].

    >>> torch.nn.Hardtanh()(torch.tensor([-4.0, 0.5, 4.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """

    __constants__ = ["min_val", "max_val", "inplace"]
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            warnings.warn(
                "keyword argument `min_value` is deprecated and rename to `min_val`", FutureWarning, stacklevel=2
            )
            min_val = min_value
        if max_value is not None:
            warnings.warn(
                "keyword argument `max_value` is deprecated and rename to `max_val`", FutureWarning, stacklevel=2
            )
            max_val = max_value
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """Clips to [0, 6].

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Return ``inplace=True``, or nothing."""
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(_Inplace):
    """relu6(x + 3) / 6.

    >>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.hardsigmoid(input, self.inplace)


class SiLU(_InplaceActivation):
    """x * sigmoid(x).

    >>> torch.nn.SiLU()(torch.tensor([-1., 0., 1.]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.silu(input, inplace=self.inplace)


class Mish(_InplaceActivation):
    """x * tanh(softplus(x)).

    >>> torch.nn.Mish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.mish(input, inplace=self.inplace)


class Hardswish(_Inplace):
    """x * relu6(x + 3) / 6.

    >>> torch.nn.Hardswish()(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([-0., 0., 4.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.hardswish(input, self.inplace)


class _AlphaActivation(Module):
    __constants__ = ["alpha", "inplace"]
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Return the options."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class ELU(_AlphaActivation):
    """x where positive, else alpha * (exp(x) - 1).

    >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_AlphaActivation):
    """x where positive, else alpha * (exp(x / alpha) - 1).

    >>> torch.nn.CELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_InplaceActivation):
    """ELU scaled so that activations normalize themselves.

    >>> torch.nn.SELU()(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.selu(input, self.inplace)


class GELU(Module):
    """x * Phi(x), with Phi exact or (``approximate="tanh"``) approximated.

    >>> torch.nn.GELU()(torch.tensor([-1., 0., 1.]))
    tensor([-0.1587,  0.0000,  0.8413])
    """

    __constants__ = ["approximate"]
    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"approximate={self.approximate!r}"


class _LambdActivation(Module):
    __constants__ = ["lambd"]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """Return the options."""
        return f"{self.lambd}"


class Hardshrink(_LambdActivation):
    """x where |x| > lambd, else 0.

    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.25, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_LambdActivation):
    """x moved towards 0 by lambd.

    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.25, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.softshrink(input, self.lambd)


class LeakyReLU(Module):
    """x where positive, else negative_slope * x.

    >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    __constants__ = ["inplace", "negative_slope"]
    inplace: bool
    negative_slope: float

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, linear above ``threshold``.

    >>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    __constants__ = ["beta", "threshold"]
    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"beta={self.beta}, threshold={self.threshold}"
