"""The meshes of the `with` blocks that a program is in."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist

_NO_MESH = "No device mesh is currently active!"


class _MeshEnv(threading.local):
    """The meshes of the `with` blocks that this thread is in."""

    def __init__(self) -> None:
        self.mesh_stack: list[Any] = []

    def get_current_mesh(self) -> Any:
        """Return the innermost one."""
        if not self.mesh_stack:
            raise RuntimeError(_NO_MESH)
        return self.mesh_stack[-1]

    def get_root_mesh(self, device_mesh: Any) -> Any:
        """Return the mesh that a part was taken from."""
        warnings.warn(
            "This get_root_mesh API will be deprecated soon.Please use `get_root_mesh` inside DeviceMesh instead.",
            stacklevel=2,
        )
        return device_mesh._get_root_mesh() if device_mesh else device_mesh

    def _get_all_submeshes(self, device_mesh: Any, mesh_dim_name: str) -> list[Any]:
        warnings.warn(
            "This _get_all_submeshes API will be deprecated soon."
            "Please use `_get_all_submeshes` inside DeviceMesh instead.",
            stacklevel=2,
        )
        submeshes: list[Any] = device_mesh._get_all_submeshes(mesh_dim_name)
        return submeshes

    @staticmethod
    def num_devices_per_host(device_type: str) -> int:
        """Return how many devices of a kind this host has."""
        return int(getattr(torch, device_type).device_count())

    @staticmethod
    def num_hosts(device_type: str) -> int:
        """Return how many hosts there are, each with as many devices as this one."""
        return dist.get_world_size() // _MeshEnv.num_devices_per_host(device_type)
