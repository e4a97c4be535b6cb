"""`torch.backends.cpu`."""

from mindtorch._naming import adopt

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """Return which vector instructions our own kernels were chosen for: "DEFAULT", the kernels are numpy's.

    >>> torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    True
    """
    return "DEFAULT"


adopt(globals())
