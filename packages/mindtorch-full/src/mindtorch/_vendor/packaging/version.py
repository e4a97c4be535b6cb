"""`torch._vendor.packaging.version`."""

from mindtorch._naming import adopt
from mindtorch.torch_version import InvalidVersion, Version

__all__ = ["InvalidVersion", "Version", "parse"]


def parse(version: str) -> Version:
    """Return the version that a text names. Raises InvalidVersion when it names none."""
    return Version(version)


adopt(globals())
