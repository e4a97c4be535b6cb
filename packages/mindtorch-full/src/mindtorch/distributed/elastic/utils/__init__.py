"""What the launcher's parts share."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.api import get_env_variable_or_raise, get_socket_with_port, macros

__all__ = ["get_env_variable_or_raise", "get_socket_with_port", "macros"]

adopt(globals())
