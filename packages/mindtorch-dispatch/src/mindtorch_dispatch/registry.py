"""The registry of operators under its contractual path; see `mindtorch_dispatch.extend.registry`."""

from .extend.registry import registry

__all__ = ["registry"]
