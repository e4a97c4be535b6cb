"""Ports that are free, and the store that agents share."""

from __future__ import annotations

import datetime
import socket
from contextlib import closing
from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.logging import get_logger
from mindtorch.distributed.elastic.utils.store import barrier

__all__ = ["create_c10d_store", "get_free_port", "get_socket_with_port"]

logger = get_logger("torch.distributed.elastic.utils.distributed")

_ADDRESS_IN_USE = "Address already in use"
_SOCKET_TIMEOUT = "Socket Timeout"
_TCP_STORE_INIT = "_tcp_store/num_members"


def create_c10d_store(
    is_server: bool,
    server_addr: str,
    server_port: int = -1,
    world_size: int = 1,
    timeout: float = 60 * 10,
    wait_for_workers: bool = True,
    retries: int = 3,
    use_libuv: bool | None = None,
) -> dist.TCPStore:
    """Make a TCPStore; a server whose port is not given takes a free one, and tries again where somebody was quicker."""
    if server_port == -1 and world_size > 1:
        raise ValueError(f"server_port must be specified when world_size > 1, got server_port={server_port}, "
                         f"world_size={world_size}")  # fmt: skip
    if use_libuv is not None:
        logger.warning("argument use_libuv is deprecated and ignored. Set USE_LIBUV environment variable to 0 to disable "
                       "libuv, or 1 to enable it. If the env var is not set, libuv will be used by default.")  # fmt: skip
    for attempt in range(retries, 0, -1):
        port = server_port if server_port != -1 else get_free_port()
        try:
            store = dist.TCPStore(
                host_name=server_addr,
                port=port,
                world_size=world_size,
                is_master=is_server,
                timeout=datetime.timedelta(seconds=timeout),
                wait_for_workers=wait_for_workers,
            )
            if wait_for_workers:
                _check_full_rank(store, world_size, timeout=timeout)
        except RuntimeError as error:
            if _ADDRESS_IN_USE not in str(error) or attempt == 1 or server_port != -1:
                raise
            logger.warning("The port %s was taken by somebody else; another one is tried", port)
        else:
            return store
    raise AssertionError("the last attempt returns or raises")


def _check_full_rank(store: Any, world_size: int, timeout: float) -> None:
    try:
        barrier(store, world_size, key_prefix=_TCP_STORE_INIT, barrier_timeout=timeout)
    except RuntimeError as error:
        if str(error) == _SOCKET_TIMEOUT:
            raise TimeoutError(f"timed out waiting for all {world_size} members to join") from error
        raise


def get_free_port() -> int:
    """Return a port that was free when it was asked for."""
    with closing(get_socket_with_port()) as holder:
        return int(holder.getsockname()[1])


def get_socket_with_port() -> socket.socket:
    """Return a socket that listens at a free port of this host."""
    for family, kind, protocol, _, _ in socket.getaddrinfo("localhost", None, socket.AF_UNSPEC, socket.SOCK_STREAM):
        holder = socket.socket(family, kind, protocol)
        try:
            holder.bind(("localhost", 0))
            holder.listen(0)
        except OSError as error:
            holder.close()
            logger.warning("Socket creation attempt failed.", exc_info=error)
        else:
            return holder
    raise RuntimeError("Failed to create a socket")


adopt(globals())
