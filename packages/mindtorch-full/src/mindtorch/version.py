"""`torch.version`: the interface this library offers, and that no accelerator is built in."""

from mindtorch._naming import adopt

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

# The local part says who offers the interface. torch's own CPU build says "+cpu" in this place.
__version__ = "2.13.0+mindtorch"
debug = False
cuda: str | None = None
git_version = "unknown"
hip: str | None = None
rocm: str | None = None
xpu: str | None = None

adopt(globals())
