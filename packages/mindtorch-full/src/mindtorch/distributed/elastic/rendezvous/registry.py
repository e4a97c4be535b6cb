"""The ways to meet that are known by name."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.rendezvous import c10d_rendezvous_backend, static_tcp_rendezvous
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousHandler,
    RendezvousParameters,
    rendezvous_handler_registry,
)

__all__ = ["get_rendezvous_handler"]

rendezvous_handler_registry.register("c10d", c10d_rendezvous_backend.create_handler)
rendezvous_handler_registry.register("static", static_tcp_rendezvous.create_rdzv_handler)


def get_rendezvous_handler(params: RendezvousParameters) -> RendezvousHandler:
    """Make a handler. `etcd` is not offered."""
    return rendezvous_handler_registry.create_handler(params)


adopt(globals())
