"""Launching workers from a program."""

from mindtorch._naming import adopt
from mindtorch.distributed.launcher.api import LaunchConfig, elastic_launch, launch_agent

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]

adopt(globals())
