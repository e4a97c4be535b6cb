"""Processes in rows and columns: `DeviceMesh`, with a process group for every line of it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt

__all__ = ["DeviceMesh", "init_device_mesh"]

_NO_MESH = "No device mesh is currently active!"
_MANY_DIMS = "Found the DeviceMesh have {} dimensions"
_NEEDS_DIM = "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1."


class _MeshEnv:
    """The meshes of the `with` blocks that this program is in."""

    def __init__(self) -> None:
        self.mesh_stack: list[DeviceMesh] = []

    def get_current_mesh(self) -> DeviceMesh:
        """Return the innermost one."""
        if not self.mesh_stack:
            raise RuntimeError(_NO_MESH)
        return self.mesh_stack[-1]


_mesh_resources = _MeshEnv()


class DeviceMesh:
    """Ranks in an array, and along every dimension the group of this process's line."""

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: Any = None,
        _groups: list[Any] | None = None,
        _root: DeviceMesh | None = None,
    ) -> None:
        if mesh is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        if backend_override is not None:
            raise NotImplementedError("DeviceMesh: backend_override is not offered")
        given = mesh if isinstance(mesh, torch.Tensor) else torch.tensor(mesh, dtype=torch.int32)
        if given.device.type != "cpu":
            raise ValueError(f"`mesh` must be a CPU tensor, got {given}")
        self.mesh = given.detach().to(torch.int32).contiguous()
        self.device_type = device_type
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        self._root = _root
        self._flattened: dict[str, DeviceMesh] = {}
        if not dist.is_initialized():
            dist.init_process_group()
        world = dist.get_world_size()
        if self.mesh.numel() > world:
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {world}, but found {self.mesh.numel()} ranks!"
            )
        places = (self.mesh == dist.get_rank()).nonzero().tolist()
        self._coordinate = tuple(places[0]) if places else None
        self._groups = self._make_groups(world) if _groups is None else _groups

    def _make_groups(self, world: int) -> list[Any]:
        """Make a group of every line along every dimension; all processes take part in making each."""
        groups = []
        for dim in range(self.mesh.ndim):
            lines = self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist()
            mine = None
            for line in lines:
                if line == list(range(world)):
                    group = dist.distributed_c10d._get_default_group()
                else:
                    group = dist.new_group(line)
                if dist.get_rank() in line:
                    mine = group
            groups.append(mine)
        return groups

    def _get_root_mesh(self) -> DeviceMesh:
        return self if self._root is None else self._root

    def __enter__(self) -> DeviceMesh:
        _mesh_resources.mesh_stack.append(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, exc_traceback: Any) -> None:
        _mesh_resources.mesh_stack.pop()

    def __repr__(self) -> str:
        names = self.mesh_dim_names
        shown = ", ".join(f"{names[i]}={size}" if names else str(size) for i, size in enumerate(self.shape))
        if len(self.shape) == 1 and not names:
            shown += ","
        return f"DeviceMesh(({shown}), {self.device_type!r}, stride={self._strides()})"

    def _strides(self) -> tuple[Any, ...]:
        """Return how far a step along each dimension leads in the root's order; `()` along a dimension of one."""
        places = {rank: index for index, rank in enumerate(self._get_root_mesh().mesh.flatten().tolist())}
        found = []
        for dim, size in enumerate(self.shape):
            line = self.mesh.movedim(dim, -1).reshape(-1, size)[0].tolist()
            found.append(places[line[1]] - places[line[0]] if size > 1 else ())
        return tuple(found)

    def _key(self) -> Any:
        return (self.device_type, tuple(self.mesh.flatten().tolist()), self.shape, self.mesh_dim_names)

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DeviceMesh) and self._key() == other._key())

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_groups", "_root", "_flattened")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._root, self._flattened = None, {}
        self._groups = self._make_groups(dist.get_world_size()) if dist.is_initialized() else []

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """Return the mesh of some dimensions, with the groups of this one."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        if len(names) == 1 and names[0] in self._get_root_mesh()._flattened:
            return self._get_root_mesh()._flattened[names[0]]
        if any(name not in self.mesh_dim_names for name in names):
            known = [*self.mesh_dim_names, *self._flattened]
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {known}.")
        dims = [self.mesh_dim_names.index(name) for name in names]
        if dims != sorted(dims):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        return self._lines(dims, names)

    def _lines(self, dims: list[int], names: tuple[str, ...]) -> DeviceMesh:
        """Return the part of the mesh in which this process's other coordinates are fixed."""
        others = [dim for dim in range(self.ndim) if dim not in dims]
        part = self.mesh
        for dim in reversed(others):
            part = part.select(dim, 0 if self._coordinate is None else self._coordinate[dim])
        return DeviceMesh(
            self.device_type,
            part,
            mesh_dim_names=names,
            _groups=[self._groups[dim] for dim in dims],
            _root=self._get_root_mesh(),
        )

    def _flatten(self, mesh_dim_name: str | None = None, backend_override: Any = None) -> DeviceMesh:
        """Return a mesh of one dimension of the same processes."""
        if backend_override is not None:
            raise NotImplementedError("DeviceMesh: backend_override is not offered")
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name = mesh_dim_name or "_".join(self.mesh_dim_names)
        root = self._get_root_mesh()
        if name in root._flattened:
            return root._flattened[name]
        if root.mesh_dim_names and name in root.mesh_dim_names and self.ndim > 1:
            raise ValueError(
                f"{name} already exists for submesh of the {root}. The mesh_dim_names of submesh and flattened mesh are "
                f"{root.mesh_dim_names}. Please specify another valid mesh_dim_name."
            )
        group = None
        dims = [root.mesh_dim_names.index(n) for n in self.mesh_dim_names] if root.mesh_dim_names else []
        others = [range(size) for dim, size in enumerate(root.shape) if dim not in dims]
        keep = [dim for dim in range(root.ndim) if dim not in dims]
        for fixed in itertools.product(*others):
            part = root.mesh
            for dim, index in reversed(list(zip(keep, fixed, strict=True))):
                part = part.select(dim, index)
            made = dist.new_group(part.flatten().tolist())
            if dist.get_rank() in part.flatten().tolist():
                group = made
        flat = DeviceMesh(self.device_type, self.mesh.flatten(), mesh_dim_names=(name,), _groups=[group], _root=root)
        root._flattened[name] = flat
        return flat

    @staticmethod
    def _concatenate(device_mesh_list: list[DeviceMesh]) -> DeviceMesh:
        """Return the mesh of all dimensions of several parts of one mesh, in which this process's other coordinates are fixed."""
        root = device_mesh_list[0]._get_root_mesh()
        if any(mesh._get_root_mesh() != root for mesh in device_mesh_list):
            raise RuntimeError("Cannot concatenate DeviceMeshes derived from different device meshs")
        names = tuple(name for mesh in device_mesh_list for name in mesh.mesh_dim_names or ())
        if names == root.mesh_dim_names:
            return root
        steps = root.mesh.stride()
        places = {rank: index for index, rank in enumerate(root.mesh.flatten().tolist())}
        own = places[dist.get_rank()]
        moves = [[places[rank] - own for rank in mesh.mesh.flatten().tolist()] for mesh in device_mesh_list]
        taken = [sum(move) for move in itertools.product(*moves)]
        if len(set(taken)) != len(taken) or not all(steps):
            raise RuntimeError(f"Cannot concatenate overlapping meshes: {device_mesh_list}")
        ranks = root.mesh.flatten()[torch.tensor([own + move for move in taken])]
        shape = [size for mesh in device_mesh_list for size in mesh.shape]
        groups = [group for mesh in device_mesh_list for group in mesh.get_all_groups()]
        device = device_mesh_list[0].device_type
        return DeviceMesh(device, ranks.view(shape), mesh_dim_names=names or None, _groups=groups, _root=root)

    def _dim(self, mesh_dim: int | str) -> int:
        if isinstance(mesh_dim, int):
            return mesh_dim
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if mesh_dim not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{mesh_dim}' does not exist.",
                f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
            )
        return self.mesh_dim_names.index(mesh_dim)

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """Return the group of this process's line along a dimension."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                _MANY_DIMS.format(self.ndim),
                _NEEDS_DIM,
                "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                "please use `get_all_groups()` instead.",
            )
        return self._groups[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_all_groups(self) -> list[Any]:
        """Return the groups of all dimensions."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    @staticmethod
    def from_group(
        group: Any, device_type: str, mesh: Any = None, *, mesh_dim_names: tuple[str, ...] | None = None
    ) -> DeviceMesh:
        """Make a mesh of groups that exist: one, or one for every dimension of `mesh`."""
        if not isinstance(group, (list, tuple)):
            ranks = dist.get_process_group_ranks(group)
            if mesh is not None and torch.as_tensor(mesh).tolist() != ranks:
                raise ValueError(f"Invalid mesh {mesh!s} for ProcessGroup with ranks {ranks}")
            return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, _groups=[group])
        groups = list(group)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        array = torch.as_tensor(mesh)
        if array.ndim != len(groups):
            raise ValueError(
                "Expects mesh with ndim equal to number of ProcessGroups but got "
                f"mesh {array.tolist()} and {len(groups)} ProcessGroups"
            )
        return DeviceMesh(device_type, array, mesh_dim_names=mesh_dim_names, _groups=groups)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return the number of processes, or that along a dimension."""
        return self.mesh.numel() if mesh_dim is None else int(self.mesh.shape[mesh_dim])

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.mesh.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of processes along every dimension."""
        return tuple(self.mesh.shape)

    def get_rank(self) -> int:
        """Return this process's rank among all."""
        return dist.get_rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return this process's place along a dimension."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(_MANY_DIMS.format(self.ndim), _NEEDS_DIM)
        if self._coordinate is None:
            raise RuntimeError("this process is not part of the mesh")
        return self._coordinate[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Return this process's place in the mesh, None when it has none."""
        return self._coordinate


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """Arrange all ranks in a mesh of this shape."""
    if backend_override is not None:
        raise NotImplementedError("init_device_mesh: backend_override is not offered")
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! "
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}."
            )
    if device_type and not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    ranks = torch.arange(math.prod(mesh_shape), dtype=torch.int32).view(mesh_shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)


adopt(globals())
