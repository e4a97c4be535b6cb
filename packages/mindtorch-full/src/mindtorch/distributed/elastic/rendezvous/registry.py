"""The ways to meet that are known by name."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousHandler,
    RendezvousParameters,
    rendezvous_handler_registry,
)
from mindtorch.distributed.elastic.rendezvous.c10d_rendezvous_backend import create_backend
from mindtorch.distributed.elastic.rendezvous.dynamic_rendezvous import create_handler
from mindtorch.distributed.elastic.rendezvous.static_tcp_rendezvous import create_rdzv_handler

__all__ = ["get_rendezvous_handler"]


def _create_c10d_handler(params: RendezvousParameters) -> RendezvousHandler:
    backend, store = create_backend(params)
    return create_handler(store, backend, params)


def _register_default_handlers() -> None:
    rendezvous_handler_registry.register("c10d", _create_c10d_handler)
    rendezvous_handler_registry.register("static", create_rdzv_handler)


def get_rendezvous_handler(params: RendezvousParameters) -> RendezvousHandler:
    """Make a handler. `etcd` is not offered."""
    return rendezvous_handler_registry.create_handler(params)


_register_default_handlers()

adopt(globals())
