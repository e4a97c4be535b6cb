"""`torch._C._distributed_rpc`: calls to other processes are not offered, so that there is never an agent of them."""

__all__: list[str] = []


def _is_current_rpc_agent_set() -> bool:
    """Return whether this process answers calls of others: False."""
    return False
