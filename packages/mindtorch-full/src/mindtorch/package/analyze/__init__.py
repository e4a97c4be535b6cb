"""`torch.package.analyze`: which modules a package needs, and why."""

from .find_first_use_of_broken_modules import find_first_use_of_broken_modules
from .trace_dependencies import trace_dependencies

__all__ = ["find_first_use_of_broken_modules", "trace_dependencies"]
