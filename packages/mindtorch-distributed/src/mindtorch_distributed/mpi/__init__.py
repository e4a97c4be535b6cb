"""The engine for hosts: MPI."""

from mindtorch_distributed.mpi.library import is_installed
from mindtorch_distributed.mpi.world import communicator, remove_stale

__all__ = ["communicator", "is_installed", "remove_stale"]
