"""Settings of saving and loading."""

from mindtorch.utils.serialization import config

__all__ = ["config"]
