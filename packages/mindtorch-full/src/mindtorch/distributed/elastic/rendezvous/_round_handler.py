"""One node's side of a rendezvous in rounds: what agents call, whatever decides when a round is complete."""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
import weakref
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.elastic.events import NodeState, construct_and_record_rdzv_event
from mindtorch.distributed.elastic.rendezvous._rendezvous_state import (
    RendezvousSettings,
    _NodeDesc,
    _RendezvousState,
    _RendezvousStateHolder,
)
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousError,
    RendezvousGracefulExitError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousStoreInfo,
)
from mindtorch.distributed.elastic.rendezvous.utils import _PeriodicTimer

__all__ = ["RoundHandler", "events_of"]

logger = logging.getLogger("torch.distributed.elastic.rendezvous.dynamic_rendezvous")


def events_of(owner: object, run_id: str, node: _NodeDesc | None) -> dict[str, Any]:
    """Say which method of which object an event is of, and whose."""
    name = f"{type(owner).__name__}.{sys._getframe(2).f_code.co_name}"
    if node is None:
        return {"name": name, "run_id": run_id}
    return {"name": name, "run_id": run_id, "hostname": node.addr, "pid": node.pid, "local_id": node.local_id}


class RoundHandler(RendezvousHandler):
    """A node that meets others in rounds and gives signs of life within one."""

    def __init__(
        self,
        node: _NodeDesc,
        settings: RendezvousSettings,
        backend_name: str,
        store: dist.Store,
        state_holder: _RendezvousStateHolder,
    ) -> None:
        if not settings.run_id:
            raise ValueError("The run id must be a non-empty string.")
        if settings.min_nodes < 1:
            raise ValueError(f"The minimum number of nodes ({settings.min_nodes}) must be greater than zero.")
        if settings.max_nodes < settings.min_nodes:
            raise ValueError(
                f"The maximum number of nodes ({settings.max_nodes}) must be greater than or equal to the minimum "
                f"number of nodes ({settings.min_nodes})."
            )
        self._this_node = node
        self._settings = settings
        self._backend_name = backend_name
        self._store = store
        self._state_holder = state_holder
        self._heartbeat_lock = threading.Lock()
        self._keep_alive_timer: _PeriodicTimer | None = None
        self._shared_tcp_store_server: dist.Store | None = None
        self._bootstrap_store_info: RendezvousStoreInfo | None = None

    def _record(self, message: str, node_state: NodeState = NodeState.RUNNING, rank: int | None = None) -> None:
        event = events_of(self, self._settings.run_id, self._this_node)
        construct_and_record_rdzv_event(message=message, node_state=node_state, rank=rank, **event)

    def _create_tcp_store_server(self, master_addr: str, master_port: int) -> dist.TCPStore:
        return dist.TCPStore(host_name=master_addr, port=master_port, is_master=True, multi_tenant=True)

    @property
    def settings(self) -> RendezvousSettings:
        """Return what all nodes were told."""
        return self._settings

    def get_backend(self) -> str:
        """Return the backend's name."""
        return self._backend_name

    @property
    def use_agent_store(self) -> bool:
        """Whether workers use a store that an agent holds."""
        return os.getenv("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "0") != "1"

    def next_rendezvous(self) -> RendezvousInfo:
        """Leave the last round, and wait until the next is complete."""
        try:
            self._stop_heartbeats()
            self._meet()
            self._start_heartbeats()
            rank, world_size = self._get_world()
            store = self._get_store()
        except Exception as error:
            how = NodeState.SUCCEEDED if isinstance(error, RendezvousGracefulExitError) else NodeState.FAILED
            self._record(f"{type(error).__name__}: {traceback.format_exc()}", how)
            raise
        self._record(f"The node '{self._this_node}' has rank {rank} of {world_size}", rank=rank)
        return RendezvousInfo(store, rank, world_size, self._place_of_workers(rank, store))

    def _place_of_workers(self, rank: int, store: dist.Store) -> RendezvousStoreInfo:
        """Say where the workers' store is: with the first node's agent, for all rounds, or where they start one."""
        address = self._this_node.addr
        if not self.use_agent_store:
            return RendezvousStoreInfo.build(rank, store, local_addr=address)
        if self._bootstrap_store_info is None:
            port = 0
            if rank == 0:
                self._shared_tcp_store_server = self._create_tcp_store_server(address, 0)
                port = self._shared_tcp_store_server.port
            self._bootstrap_store_info = RendezvousStoreInfo.build(rank, store, local_addr=address, server_port=port)
        return self._bootstrap_store_info

    def _recorded(self, call: Callable[[], Any]) -> Any:
        """Call, and record what it raises."""
        try:
            return call()
        except Exception as error:
            self._record(f"{type(error).__name__}: {traceback.format_exc()}", NodeState.FAILED)
            raise

    def _synced_state(self) -> _RendezvousState:
        with self._heartbeat_lock:
            self._state_holder.sync()
            return self._state_holder.state

    def is_closed(self) -> bool:
        """Return whether a node ended the run."""
        return cast(bool, self._recorded(self._synced_state).closed)

    def set_closed(self) -> None:
        """End the run for all nodes."""

        def close() -> None:
            with self._heartbeat_lock:
                self._close()

        self._recorded(close)

    def num_nodes_waiting(self) -> int:
        """Return how many nodes wait for the next round."""
        return len(self._recorded(self._synced_state).wait_list)

    def get_run_id(self) -> str:
        """Return the run's name."""
        return self._settings.run_id

    def shutdown(self) -> bool:
        """End the run and give no more signs of life; False when the backend is gone."""
        self._stop_heartbeats()
        try:
            self._recorded(self._close)
        except RendezvousError as error:
            logger.warning(
                "The node '%s' cannot end the rendezvous '%s': %r", self._this_node, self.get_run_id(), error
            )
            return False
        return True

    @abstractmethod
    def _meet(self) -> None:
        """Leave the last round and wait until the next is complete."""

    @abstractmethod
    def _close(self) -> None:
        """End the run."""

    @abstractmethod
    def _keep_alive(self) -> None:
        """Give a sign of life."""

    @staticmethod
    def _keep_alive_weak(weak_self: weakref.ref[RoundHandler]) -> None:
        handler = weak_self()
        if handler is not None:
            handler._keep_alive()

    def _start_heartbeats(self) -> None:
        self._keep_alive_timer = _PeriodicTimer(
            self._settings.keep_alive_interval, self._keep_alive_weak, weakref.ref(self)
        )
        self._keep_alive_timer.set_name(f"RendezvousKeepAliveTimer_{self._this_node.local_id}")
        self._keep_alive_timer.start()

    def _stop_heartbeats(self) -> None:
        if self._keep_alive_timer is not None:
            self._keep_alive_timer.cancel()

    def _get_world(self) -> tuple[int, int]:
        participants = self._state_holder.state.participants
        return participants[self._this_node], len(participants)

    def _get_store(self) -> dist.Store:
        key_prefix = f"torch.rendezvous.{self._settings.run_id}.{self._state_holder.state.round}"
        return dist.PrefixStore(key_prefix, self._store)


adopt(globals(), "torch.distributed.elastic.rendezvous.dynamic_rendezvous")
