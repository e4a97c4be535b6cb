"""Objects that give and take a state."""

from typing import Protocol, TypeVar, runtime_checkable

from mindtorch._naming import adopt

__all__ = ["Stateful", "StatefulT"]


@runtime_checkable
class Stateful(Protocol):
    """What is saved by its `state_dict` and loaded by its `load_state_dict`."""

    def state_dict(self) -> dict[str, object]:
        """Return the state."""
        ...

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Take a state."""
        ...


StatefulT = TypeVar("StatefulT", bound=Stateful)

adopt(globals())
