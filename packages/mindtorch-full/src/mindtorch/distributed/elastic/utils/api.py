"""Variables, ports and placeholders of the launcher."""

import os
import socket
from string import Template
from typing import Any

from mindtorch._naming import adopt

__all__ = ["get_env_variable_or_raise", "get_socket_with_port", "macros"]


def get_env_variable_or_raise(env_name: str) -> str:
    """Return a variable of the environment that must be set."""
    value = os.environ.get(env_name)
    if value is None:
        raise ValueError(f"Environment variable {env_name} expected, but not set")
    return value


def get_socket_with_port() -> socket.socket:
    """Return a listening socket on a free port of this host."""
    for family, kind, protocol, _, _ in socket.getaddrinfo("localhost", None, socket.AF_UNSPEC, socket.SOCK_STREAM):
        found = socket.socket(family, kind, protocol)
        try:
            found.bind(("localhost", 0))
            found.listen(0)
        except OSError:
            found.close()
        else:
            return found
    raise RuntimeError("Failed to create a socket")


class macros:
    """Placeholders in the arguments of a worker."""

    local_rank = "${local_rank}"

    @staticmethod
    def substitute(args: list[Any], local_rank: str) -> list[Any]:
        """Fill the placeholders of every argument that is a string."""
        return [Template(arg).safe_substitute(local_rank=local_rank) if isinstance(arg, str) else arg for arg in args]


adopt(globals())
