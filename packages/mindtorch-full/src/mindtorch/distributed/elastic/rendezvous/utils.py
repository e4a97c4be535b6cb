"""Reading what the command line says about a rendezvous, waiting, and calling again and again."""

from __future__ import annotations

import ipaddress
import random
import re
import socket
import threading
import time
import weakref
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from mindtorch._naming import adopt

__all__ = ["parse_rendezvous_endpoint"]

_HOST = re.compile(r"[\w.:-]+")


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


def _try_parse_port(port_str: str) -> int | None:
    """Read a number without sign or spaces; None for another text."""
    return int(port_str) if re.fullmatch(r"[0-9]+", port_str) else None


def parse_rendezvous_endpoint(endpoint: str | None, default_port: int) -> tuple[str, int]:
    """Read `host:port`; an empty endpoint is this host."""
    endpoint = (endpoint or "").strip()
    if not endpoint:
        return "localhost", default_port
    host, separator, port_text = endpoint.rpartition(":")
    if not separator or (endpoint.startswith("[") and endpoint.endswith("]")):  # or an IPv6 address without a port
        host, port = endpoint, default_port
    else:
        number = _try_parse_port(port_text)
        if number is None or number >= 1 << 16:
            raise ValueError(
                f"The port number of the rendezvous endpoint '{endpoint}' must be an integer between 0 and 65536."
            )
        port = number
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not _HOST.fullmatch(host):
        raise ValueError(
            f"The hostname of the rendezvous endpoint '{endpoint}' must be a dot-separated list of labels, an IPv4 "
            "address, or an IPv6 address."
        )
    return host, port


def _addresses(host: str) -> list[tuple[str, str]]:
    """Return the canonical name and the address of each way to a host; none where its name is not known."""
    try:
        ways = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP, flags=socket.AI_CANONNAME)
    except (ValueError, socket.gaierror):  # a name that cannot be resolved leads nowhere
        return []
    return [(way[3], str(way[4][0])) for way in ways]


def _matches_machine_hostname(host: str) -> bool:
    """Return whether a name or an address means this host."""
    if host in ("localhost", socket.gethostname(), socket.getfqdn()):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:  # a name
        address = None
    if address is not None and address.is_loopback:
        return True
    meant = {way for _, way in _addresses(host)} | ({str(address)} if address else set())
    return any(name == host or way in meant for name, way in _addresses(socket.gethostname()))


def _delay(seconds: float | tuple[float, float]) -> None:
    """Wait some seconds, or a random time between two numbers of seconds."""
    time.sleep(random.uniform(*seconds) if isinstance(seconds, tuple) else seconds)


class _PeriodicTimer:
    """Calls a function again and again in a thread, until it is cancelled or nobody holds it."""

    def __init__(self, interval: timedelta, function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        self._name: str | None = None
        self._interval = interval
        self._call = (function, args, kwargs)
        self._stop_event = threading.Event()
        self._thread: threading.Thread | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None

    @property
    def name(self) -> str | None:
        """Return the thread's name."""
        return self._name

    def set_name(self, name: str) -> None:
        """Name the thread, before it starts."""
        if self._thread:
            raise RuntimeError("The timer has already started.")
        self._name = name

    def start(self) -> None:
        """Start the thread."""
        if self._thread:
            raise RuntimeError("The timer has already started.")
        given = (self._interval.total_seconds(), self._stop_event, *self._call)
        self._thread = threading.Thread(target=self._run, name=self._name or "PeriodicTimer", args=given, daemon=True)
        # The thread holds no reference to the timer: the last one that goes stops it.
        self._finalizer = weakref.finalize(self, self._stop_thread, self._thread, self._stop_event)
        self._finalizer.atexit = False
        self._thread.start()

    def cancel(self) -> None:
        """Stop the thread, and wait until it has ended."""
        if self._finalizer:
            self._finalizer()

    @staticmethod
    def _run(
        interval: float,
        stop_event: threading.Event,
        function: Callable[..., None],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        while not stop_event.wait(interval):
            function(*args, **kwargs)

    @staticmethod
    def _stop_thread(thread: threading.Thread, stop_event: threading.Event) -> None:
        stop_event.set()
        if thread is not threading.current_thread():  # a call that drops the last reference cannot wait for itself
            thread.join()


adopt(globals())
