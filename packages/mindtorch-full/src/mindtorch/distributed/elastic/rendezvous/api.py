"""How the agents of several nodes meet: what a rendezvous takes and gives, and its errors."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.distributed import get_free_port

__all__ = [
    "RendezvousClosedError",
    "RendezvousConnectionError",
    "RendezvousError",
    "RendezvousGracefulExitError",
    "RendezvousHandler",
    "RendezvousHandlerRegistry",
    "RendezvousInfo",
    "RendezvousParameters",
    "RendezvousStateError",
    "RendezvousStoreInfo",
    "RendezvousTimeoutError",
    "rendezvous_handler_registry",
]


class RendezvousError(Exception):
    """Something about a rendezvous went wrong."""


class RendezvousClosedError(RendezvousError):
    """The rendezvous is closed."""


class RendezvousTimeoutError(RendezvousError):
    """The nodes did not meet in time."""


class RendezvousConnectionError(RendezvousError):
    """The store cannot be reached."""


class RendezvousStateError(RendezvousError):
    """The rendezvous' state is broken."""


class RendezvousGracefulExitError(RendezvousError):
    """A node that was not taken along ends without an error."""


@dataclass
class RendezvousStoreInfo:
    """Where the workers' store is."""

    MASTER_ADDR_KEY: ClassVar[str] = "MASTER_ADDR"
    MASTER_PORT_KEY: ClassVar[str] = "MASTER_PORT"
    master_addr: str
    master_port: int

    @staticmethod
    def build(
        rank: int, store: Any, local_addr: str | None = None, server_port: int | None = None
    ) -> RendezvousStoreInfo:
        """Let the first node say where the workers' store will be; every node returns that."""
        place = RendezvousStoreInfo
        if rank == 0:
            store.set(place.MASTER_ADDR_KEY, (local_addr or socket.getfqdn()).encode())
            store.set(place.MASTER_PORT_KEY, str(server_port or get_free_port()).encode())
        address = store.get(place.MASTER_ADDR_KEY).decode()
        return place(master_addr=address, master_port=int(store.get(place.MASTER_PORT_KEY).decode()))


@dataclass
class RendezvousInfo:
    """What a node gets from a rendezvous."""

    store: Any
    rank: int
    world_size: int
    bootstrap_store_info: RendezvousStoreInfo


class RendezvousHandler(ABC):
    """One node's side of a rendezvous."""

    @abstractmethod
    def get_backend(self) -> str:
        """Return the name of the way in which nodes meet."""

    @property
    def use_agent_store(self) -> bool:
        """Whether workers use the store that the agents hold."""
        return False

    @abstractmethod
    def next_rendezvous(self) -> RendezvousInfo:
        """Wait until the nodes of the next round are there."""

    @abstractmethod
    def is_closed(self) -> bool:
        """Return whether no more rounds will be."""

    @abstractmethod
    def set_closed(self) -> None:
        """Allow no more rounds."""

    @abstractmethod
    def num_nodes_waiting(self) -> int:
        """Return how many nodes wait for a next round."""

    @abstractmethod
    def get_run_id(self) -> str:
        """Return the run's name."""

    @abstractmethod
    def shutdown(self) -> bool:
        """Release what the rendezvous holds."""


class RendezvousParameters:
    """What a handler is made of; whatever else is given is its `config`."""

    def __init__(
        self,
        backend: str,
        endpoint: str,
        run_id: str,
        min_nodes: int,
        max_nodes: int,
        local_addr: str | None = None,
        **kwargs: Any,
    ) -> None:
        if not backend:
            raise ValueError("The rendezvous backend name must be a non-empty string.")
        if min_nodes < 1:
            raise ValueError(f"The minimum number of rendezvous nodes ({min_nodes}) must be greater than zero.")
        if max_nodes < min_nodes:
            raise ValueError(
                f"The maximum number of rendezvous nodes ({max_nodes}) must be greater than or "
                f"equal to the minimum number of rendezvous nodes ({min_nodes})."
            )
        self.backend = backend
        self.endpoint = endpoint
        self.run_id = run_id
        self.min_nodes = min_nodes
        self.max_nodes = max_nodes
        self.config = kwargs
        self.local_addr = local_addr

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value of `config`."""
        return self.config.get(key, default)

    def get_as_bool(self, key: str, default: bool | None = None) -> bool | None:
        """Return a value of `config` as a truth value."""
        value = self.get(key, default)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if value in (0, 1):
                return bool(value)
        elif isinstance(value, str):
            if value.lower() in ("1", "true", "t", "yes", "y"):
                return True
            if value.lower() in ("0", "false", "f", "no", "n"):
                return False
        raise ValueError(f"The rendezvous configuration option '{key}' does not represent a valid boolean value.")

    def get_as_int(self, key: str, default: int | None = None) -> int | None:
        """Return a value of `config` as a number."""
        value = self.get(key, default)
        if value is None:
            return value
        try:
            return int(value)
        except ValueError as error:
            raise ValueError(
                f"The rendezvous configuration option '{key}' does not represent a valid integer value."
            ) from error


class RendezvousHandlerRegistry:
    """Makers of handlers by name."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[RendezvousParameters], RendezvousHandler]] = {}

    def register(self, backend: str, creator: Callable[[RendezvousParameters], RendezvousHandler]) -> None:
        """Add a maker."""
        if not backend:
            raise ValueError("The rendezvous backend name must be a non-empty string.")
        known = self._makers.get(backend)
        if known is not None and known is not creator:
            raise ValueError(
                f"The rendezvous backend '{backend}' cannot be registered with '{creator}' as it is already "
                f"registered with '{known}'."
            )
        self._makers[backend] = creator

    def create_handler(self, params: RendezvousParameters) -> RendezvousHandler:
        """Make a handler."""
        maker = self._makers.get(params.backend)
        if maker is None:
            raise ValueError(
                f"The rendezvous backend '{params.backend}' is not registered. Did you forget to call `register`?"
            )
        handler = maker(params)
        if handler.get_backend() != params.backend:
            raise RuntimeError(
                f"The rendezvous backend '{handler.get_backend()}' does not match the requested backend "
                f"'{params.backend}'."
            )
        return handler


rendezvous_handler_registry = RendezvousHandlerRegistry()

adopt(globals())
