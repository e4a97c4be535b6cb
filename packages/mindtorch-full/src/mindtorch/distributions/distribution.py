"""The base of all laws: shapes, validation, sampling, and what follows from them."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .utils import NO_SHAPE, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A law with independent copies over ``batch_shape``, whose samples have shape ``event_shape``.

    >>> torch.distributions.Normal(0.0, 1.0).expand((2,)).batch_shape
    torch.Size([2])
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__
    #: Attributes that hold parameters, with the number of their last dimensions that belong to one event.
    #: A law that fills this in gets `expand` from here.
    _expanded: ClassVar[dict[str, int]] = {}
    #: Attributes that are the same for all members of a batch.
    _shared: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether laws check parameters and samples unless told otherwise."""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = NO_SHAPE, event_shape: Any = NO_SHAPE, validate_args: bool | None = None
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. "
                "Please set `arg_constraints = {}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for param, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if param not in self.__dict__ and isinstance(getattr(type(self), param), lazy_property):
                continue  # not given, but computed from others that are checked
            value = getattr(self, param)
            if not torch._is_all_true(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {param} "
                    f"({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} "
                    f"to satisfy the constraint {constraint!r}, "
                    f"but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch; parameters are expanded, not copied."""
        owner = next((cls for cls in type(self).__mro__ if cls.__dict__.get("_expanded")), None)
        if owner is None:
            raise NotImplementedError
        new = self._get_checked_instance(owner, _instance)
        batch_shape = torch.Size(batch_shape)
        for name, event_dims in owner._expanded.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                tail = value.shape[value.dim() - event_dims :] if event_dims else torch.Size()
                setattr(new, name, value.expand(batch_shape + tail))
        for name in owner._shared:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name])
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one sample."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """What each parameter must satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set samples come from."""
        raise NotImplementedError

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> torch.Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients of the parameters flow through."""
        raise NotImplementedError

    def sample_n(self, n: int) -> torch.Tensor:
        """Draw ``n`` samples; the older form."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density or probability of each value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        raise NotImplementedError

    def icdf(self, value: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> torch.Tensor:
        """All values a sample can have, along a first dimension."""
        raise NotImplementedError

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        raise NotImplementedError

    def perplexity(self) -> torch.Tensor:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = NO_SHAPE) -> Any:
        """The shape of a tensor of samples."""
        if not isinstance(sample_shape, torch.Size):
            sample_shape = torch.Size(sample_shape)
        return torch.Size(sample_shape + self._batch_shape + self._event_shape)

    def _validate_sample(self, value: Any) -> None:
        """Refuse what cannot be a sample."""
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event_start = len(value.size()) - len(self._event_shape)
        if value.size()[event_start:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        actual, expected = value.size(), self._batch_shape + self._event_shape
        for i, j in zip(reversed(actual), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable "
                "sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not torch._is_all_true(support.check(value)):
            raise ValueError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) "
                f"of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = ", ".join(
            f"{name}: {self.__dict__[name] if self.__dict__[name].numel() == 1 else self.__dict__[name].size()}"
            for name in names
        )
        return self.__class__.__name__ + "(" + shown + ")"


def batch_of(*params: Any, given: tuple[Any, ...]) -> Any:
    """The batch shape of broadcast parameters: none if all were given as numbers."""
    return torch.Size() if not any(isinstance(value, torch.Tensor) for value in given) else params[0].size()


adopt(globals())
