"""Test support for MindTorch: oracle comparison, op samples, conformance."""

from mindtorch_testing.__about__ import __version__

__all__ = ["__version__"]
