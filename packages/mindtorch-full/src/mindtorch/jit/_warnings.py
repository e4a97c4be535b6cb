"""Warnings of the compiler and of the tracer."""

import warnings


class ScriptWarning(Warning):
    """A warning of the compiler."""


class TracerWarning(Warning):
    """A warning of the tracer."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Leave out those that come from torch itself."""
        warnings.filterwarnings("ignore", category=TracerWarning, module="(mind)?torch.(?!jit)")
        warnings.filterwarnings("ignore", "torch::jit::fuser::cuda")


for _class in (ScriptWarning, TracerWarning):
    _class.__module__ = "torch.jit"
