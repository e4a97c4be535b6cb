"""What a set of values is, and what stands for sets that depend on parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Constraint:
    """A set of values; ``event_dim`` of the last dimensions make one value.

    >>> torch.distributions.constraints.positive.check(torch.tensor([-1.0, 1.0]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """For each value, whether it is in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.__class__.__name__.lstrip("_") + "()"


class _Bounded(Constraint):
    """A set given by bounds, which its text shows."""

    _shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{self.__class__.__name__.lstrip('_')}({bounds})"


class _Dependent(Constraint):
    """Stands where the set depends on other parameters."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether the values are discrete, if that does not depend on parameters."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The dimensions of one value, if they do not depend on parameters."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Any) -> Any:
        """Cannot be known."""
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a set depends on parameters.

    >>> torch.distributions.constraints.is_dependent(torch.distributions.constraints.positive)
    False
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property whose value is a set; on the class it stands for a dependent one."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: bool | None = NotImplemented,  # type: ignore[assignment]
        event_dim: int | None = NotImplemented,  # type: ignore[assignment]
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)
