"""The state of a rendezvous in a store: a TCPStore that one node holds, or a file that all nodes see."""

from __future__ import annotations

import binascii
import datetime
import logging
import os
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed import FileStore, Store, TCPStore
from mindtorch.distributed.elastic.events import NodeState, construct_and_record_rdzv_event
from mindtorch.distributed.elastic.rendezvous._rendezvous_state import RendezvousBackend, Token
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousConnectionError,
    RendezvousError,
    RendezvousParameters,
    RendezvousStateError,
)
from mindtorch.distributed.elastic.rendezvous.utils import _matches_machine_hostname, parse_rendezvous_endpoint

__all__ = ["C10dRendezvousBackend", "create_backend"]

logger = logging.getLogger("torch.distributed.elastic.rendezvous.c10d_rendezvous_backend")

DEFAULT_PORT = 29400
_UNREACHABLE = "The connection to the C10d store has failed. See inner exception for details."


class C10dRendezvousBackend(RendezvousBackend):
    """Keeps the state under one key."""

    _NULL_SENTINEL = "Y2FuaW1hZGFt"
    """What the key holds while there is no state: both torch's nodes and ours know it."""

    def __init__(self, store: Store, run_id: str) -> None:
        if not run_id:
            raise ValueError("The run id must be a non-empty string.")
        self._store = store
        self._key = f"torch.rendezvous.{run_id}"
        self._call_store("compare_set", self._key, "", self._NULL_SENTINEL)

    @property
    def name(self) -> str:
        """Return `c10d`."""
        return "c10d"

    def get_state(self) -> tuple[bytes, Token] | None:
        """Return the state, and what the key holds."""
        return self._decode_state(self._call_store("get", self._key))

    def set_state(self, state: bytes, token: Token | None = None) -> tuple[bytes, Token, bool] | None:
        """Replace the state that the token belongs to."""
        if token and not isinstance(token, bytes):
            held = self.get_state()
            return None if held is None else (*held, False)
        expected = token.decode() if token else self._NULL_SENTINEL
        answer = self._call_store("compare_set", self._key, expected, b64encode(state).decode())
        held = self._decode_state(answer)
        return None if held is None else (*held, held[0] == state)

    def _call_store(self, store_op: str, *args: Any) -> Any:
        try:
            return getattr(self._store, store_op)(*args)
        except (ValueError, RuntimeError, TimeoutError) as error:
            raise RendezvousConnectionError(_UNREACHABLE) from error

    def _decode_state(self, base64_state: bytes) -> tuple[bytes, Token] | None:
        if base64_state == self._NULL_SENTINEL.encode():
            return None
        try:
            return b64decode(base64_state), base64_state
        except binascii.Error as error:
            raise RendezvousStateError("The state object is corrupt. See inner exception for details.") from error


def _create_tcp_store(params: RendezvousParameters) -> TCPStore:
    """This node holds the store if the endpoint is its own and free, else it connects."""
    host, port = parse_rendezvous_endpoint(params.endpoint, default_port=DEFAULT_PORT)
    asked = params.get_as_bool("is_host")
    is_host = _matches_machine_hostname(host) if asked is None else asked
    read_timeout = params.get_as_int("read_timeout", 60)
    if read_timeout is None or read_timeout <= 0:
        raise ValueError("The read timeout must be a positive integer.")
    for is_server in [is_host, False]:
        try:
            store = TCPStore(
                host,
                port,
                is_master=is_server,
                multi_tenant=True,
                timeout=datetime.timedelta(seconds=read_timeout),
                wait_for_workers=False,
            )
        except (ValueError, RuntimeError, TimeoutError) as error:
            if not is_server or asked is not None:
                raise RendezvousConnectionError(_UNREACHABLE) from error
            continue  # another agent of this host has it already
        if is_server:
            _tell(params, f"The node '{os.getpid()}' holds the store at {host}:{store.port}")
        break
    return store


def _create_file_store(params: RendezvousParameters) -> FileStore:
    path = params.endpoint
    if not path:
        try:
            handle, path = tempfile.mkstemp()
        except OSError as error:
            raise RendezvousError(
                "The file creation for C10d store has failed. See inner exception for details."
            ) from error
        os.close(handle)
    try:
        return FileStore(path)
    except (ValueError, RuntimeError) as error:
        raise RendezvousConnectionError(_UNREACHABLE) from error


def _tell(params: RendezvousParameters, message: str, state: NodeState = NodeState.INIT) -> None:
    logger.info(message)
    construct_and_record_rdzv_event(run_id=params.run_id, message=message, node_state=state)


def create_backend(params: RendezvousParameters) -> tuple[C10dRendezvousBackend, Store]:
    """Make a backend of what a command line says, and its store."""
    makers: dict[str, Callable[[RendezvousParameters], Store]] = {"tcp": _create_tcp_store, "file": _create_file_store}
    kind = str(params.get("store_type", "tcp")).strip().lower()
    try:
        if kind not in makers:
            raise ValueError("Invalid store type given. Currently only supports file and tcp.")
        store = makers[kind](params)
        return C10dRendezvousBackend(store, params.run_id), store
    except Exception as error:
        _tell(params, f"{type(error).__name__}: {error}", NodeState.FAILED)
        raise


adopt(globals())
