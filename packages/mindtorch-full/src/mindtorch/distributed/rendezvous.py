"""How processes meet: an address becomes a store, a rank and a size."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlparse, urlunparse

from mindtorch._naming import adopt
from mindtorch.distributed.constants import default_pg_timeout
from mindtorch_distributed import FileStore, PrefixStore, Store, TCPStore

__all__ = ["register_rendezvous_handler", "rendezvous"]

Meeting = Iterator[tuple[Any, int, int]]
_rendezvous_handlers: dict[str, Callable[..., Meeting]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Meeting]) -> None:
    """Make a kind of address known: `handler(url)` yields a store, a rank and a size."""
    if scheme in _rendezvous_handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _rendezvous_handlers[scheme] = handler


def _query_to_dict(query: str) -> dict[str, str]:
    return dict(pair.split("=")[:2] for pair in query.split("&") if pair)  # type: ignore[misc]


def _rendezvous_helper(url: str, rank: int, world_size_opt: int | None, **kwargs: Any) -> Meeting:
    parts = urlparse(url)
    dynamic = world_size_opt is None
    world_size = -1 if world_size_opt is None else world_size_opt
    if dynamic and parts.scheme == "env":
        rank, world_size = int(os.environ.get("RANK", rank)), int(os.environ.get("WORLD_SIZE", world_size))
    if rank != -1 or world_size != -1 or dynamic:
        query = _query_to_dict(parts.query)
        if "rank" in query or "world_size" in query:
            raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
        if rank != -1:
            query["rank"] = str(rank)
        if world_size != -1 or dynamic:
            query["world_size"] = str(world_size)
        parts = parts._replace(query="&".join(f"{key}={value}" for key, value in query.items()))
        url = urlunparse(parts)
    if parts.scheme not in _rendezvous_handlers:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    return _rendezvous_handlers[parts.scheme](url, **kwargs)


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Meeting:
    """Yield the store at which processes meet, this one's rank, and how many they are."""
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, numbers.Integral):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, numbers.Integral):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    return _rendezvous_helper(url, rank, world_size, **kwargs)


def _create_store_from_options(backend_options: Any, rank: int) -> Any:
    return next(_rendezvous_helper(backend_options.init_method, rank, None))[0]


def _error(scheme: str, text: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {text}")


def _numbers(scheme: str, query: dict[str, str]) -> tuple[int, int]:
    if "rank" not in query:
        raise _error(scheme, "rank parameter missing")
    if "world_size" not in query:
        raise _error(scheme, "world size parameter missing")
    return int(query["rank"]), int(query["world_size"])


def _file_rendezvous_handler(url: str, **kwargs: Any) -> Meeting:
    parts = urlparse(url)
    if not parts.path:
        raise _error("file", "path missing")
    rank, world_size = _numbers("file", _query_to_dict(parts.query))
    yield FileStore(parts.path, world_size), rank, world_size
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _torchelastic_use_agent_store() -> bool:
    return os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"


def _create_c10d_store(
    hostname: str, port: int, rank: int, world_size: int, timeout: timedelta, use_libuv: bool = True
) -> Store:
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    if _torchelastic_use_agent_store():  # torchrun has the store
        shared = TCPStore(host_name=hostname, port=port, world_size=world_size, is_master=False, timeout=timeout)
        return PrefixStore(f"/worker/attempt_{os.environ['TORCHELASTIC_RESTART_COUNT']}", shared)
    return TCPStore(
        host_name=hostname,
        port=port,
        world_size=world_size,
        is_master=rank == 0,
        timeout=timeout,
        multi_tenant=True,
        use_libuv=use_libuv,
    )


def _libuv(query: dict[str, str]) -> bool:
    return query.get("use_libuv", os.environ.get("USE_LIBUV", "1")) == "1"


def _tcp_rendezvous_handler(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Meeting:
    parts = urlparse(url)
    if parts.port is None:
        raise _error("tcp", "port number missing")
    query = _query_to_dict(parts.query)
    rank, world_size = _numbers("tcp", query)
    if parts.hostname is None:
        raise AssertionError("hostname cannot be None")
    yield _create_c10d_store(parts.hostname, parts.port, rank, world_size, timeout, _libuv(query)), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise _error("env", f"environment variable {name} expected, but not set")
    return value


def _env_rendezvous_handler(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Meeting:
    query = _query_to_dict(urlparse(url).query)
    rank = int(query["rank"] if "rank" in query else _variable("RANK"))
    world_size = int(query["world_size"] if "world_size" in query else _variable("WORLD_SIZE"))
    address, port = _variable("MASTER_ADDR"), int(_variable("MASTER_PORT"))
    yield _create_c10d_store(address, port, rank, world_size, timeout, _libuv(query)), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


register_rendezvous_handler("tcp", _tcp_rendezvous_handler)
register_rendezvous_handler("env", _env_rendezvous_handler)
register_rendezvous_handler("file", _file_rendezvous_handler)

adopt(globals())
