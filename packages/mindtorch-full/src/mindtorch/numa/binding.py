"""What says how worker processes are bound to the processors near their device. Launchers here refuse it: nothing binds."""

from dataclasses import dataclass
from enum import Enum

from mindtorch._naming import adopt

__all__ = ["AffinityMode", "NumaOptions"]


class AffinityMode(str, Enum):  # noqa: UP042 (its text is the name with the class, as in torch)
    """Which processors a worker may use: those of its device's memory node, of its socket, a share of the node that no
    other worker has, or those of one cache.

    >>> from torch.numa.binding import AffinityMode
    >>> [one.value for one in AffinityMode]
    ['node', 'socket', 'exclusive', 'core-complex']
    """

    NODE = "node"
    SOCKET = "socket"
    EXCLUSIVE = "exclusive"
    CORE_COMPLEX = "core-complex"


@dataclass(frozen=True)
class NumaOptions:
    """The mode, and whether a binding that fails is passed over.

    >>> from torch.numa.binding import AffinityMode, NumaOptions
    >>> NumaOptions(AffinityMode.NODE).should_fall_back_if_binding_fails
    False
    """

    affinity_mode: AffinityMode
    should_fall_back_if_binding_fails: bool = False


adopt(globals())
