"""Reading what the command line says about a rendezvous."""

import socket

from mindtorch._naming import adopt

__all__ = ["parse_rendezvous_endpoint"]


def _parse_rendezvous_config(config_str: str) -> dict[str, str]:
    """Read `key=value,key=value`."""
    config: dict[str, str] = {}
    for pair in config_str.strip().split(",") if config_str.strip() else ():
        key, *values = pair.split("=", 1)
        key = key.strip()
        if not key:
            raise ValueError(
                "The rendezvous configuration string must be in format <key1>=<value1>,...,<keyN>=<valueN>."
            )
        value = values[0].strip() if values else ""
        if not value:
            raise ValueError(f"The rendezvous configuration option '{key}' must have a value specified.")
        config[key] = value
    return config


def parse_rendezvous_endpoint(endpoint: str | None, default_port: int) -> tuple[str, int]:
    """Read `host:port`; an empty host is this one."""
    endpoint = (endpoint or "").strip()
    if not endpoint:
        return "localhost", default_port
    if endpoint.startswith("[") and endpoint.endswith("]"):  # an IPv6 address without a port
        host, port = endpoint, ""
    else:
        host, separator, port = endpoint.rpartition(":")
        if not separator:
            host, port = endpoint, ""
    number = default_port
    if port:
        if not port.isdecimal():
            raise ValueError(
                f"The port number of the rendezvous endpoint '{endpoint}' must be an integer between 0 and 65536."
            )
        number = int(port)
        if number >= 1 << 16:
            raise ValueError(
                f"The port number of the rendezvous endpoint '{endpoint}' must be an integer between 0 and 65536."
            )
    host = host.strip("[]")
    if not host:
        raise ValueError(
            f"The hostname of the rendezvous endpoint '{endpoint}' must be a valid DNS name or an IP address."
        )
    return host, number


def is_local(host: str) -> bool:
    """Return whether a name or an address means this host."""
    if host in ("localhost", socket.gethostname(), socket.getfqdn()):
        return True
    try:
        address = socket.gethostbyname(host)
        own = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:  # a name that cannot be resolved is not ours
        return False
    return address.startswith("127.") or address in own


adopt(globals())
