"""`torch.fx.experimental.proxy_tensor`: what is asked of a trace by tensors. There is none; `make_fx` is not offered."""

from mindtorch._naming import adopt

__all__ = ["get_proxy_mode"]


def get_proxy_mode() -> None:
    """Return the mode that records calls of proxies: None, nothing is traced."""
    return None


adopt(globals())
