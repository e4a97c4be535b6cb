"""Nodes whose number and order are given on the command line."""

from __future__ import annotations

import datetime
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed import PrefixStore, TCPStore
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
)
from mindtorch.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint

__all__ = ["StaticTCPRendezvous", "create_rdzv_handler"]

_TIMEOUT_SECONDS = 600


class StaticTCPRendezvous(RendezvousHandler):
    """The first node holds the store at the given address; nodes neither join nor leave."""

    def __init__(
        self, master_addr: str, master_port: int, rank: int, world_size: int, run_id: str, timeout: float
    ) -> None:
        self.master_addr = master_addr
        self.master_port = master_port
        self.rank = rank
        self.world_size = world_size
        self.run_id = run_id
        self.timeout = datetime.timedelta(seconds=timeout)
        self._store: Any = None

    def get_backend(self) -> str:
        """Return `static`."""
        return "static"

    @property
    def use_agent_store(self) -> bool:
        """Workers use the first node's store."""
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        """Reach the store."""
        if self._store is None:
            self._store = TCPStore(
                self.master_addr,
                self.master_port,
                self.world_size,
                self.rank == 0,
                self.timeout,
                multi_tenant=True,
            )
        return RendezvousInfo(
            PrefixStore(self.run_id, self._store),
            self.rank,
            self.world_size,
            RendezvousStoreInfo(self.master_addr, self.master_port),
        )

    def is_closed(self) -> bool:
        """Return False: a restart meets again."""
        return False

    def set_closed(self) -> None:
        """Do nothing: there is nobody who could join."""

    def num_nodes_waiting(self) -> int:
        """Return 0: no node joins later."""
        return 0

    def get_run_id(self) -> str:
        """Return the run's name."""
        return self.run_id

    def shutdown(self) -> bool:
        """Nothing is left to do."""
        return True


def create_rdzv_handler(params: RendezvousParameters) -> RendezvousHandler:
    """Make a handler of `rank` and `timeout` in the configuration."""
    if "rank" not in params.config:
        raise ValueError("rank is absent in RendezvousParameters.Try add --node-rank to the cmd request")
    endpoint = params.endpoint.strip()
    if not endpoint:
        raise ValueError(
            "endpoint is absent in RendezvousParametersTry add --master-port and --master-addr to the cmd request"
        )
    address, port = parse_rendezvous_endpoint(endpoint, -1)
    if port == -1:
        raise ValueError(f"Port is absent in endpoint: {endpoint}. Try launching with --master-port")
    rank = int(params.config["rank"])
    timeout = float(params.config.get("timeout", _TIMEOUT_SECONDS))
    return StaticTCPRendezvous(address, port, rank, params.max_nodes, params.run_id, timeout)


adopt(globals())
