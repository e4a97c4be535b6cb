"""How the agents of several nodes meet and agree on the order of their workers."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.rendezvous import api
from mindtorch.distributed.elastic.rendezvous.api import *  # noqa: F403 - the names of its __all__

__all__ = [*api.__all__]

adopt(globals())
