"""Processes in rows and columns: `DeviceMesh`, with a process group for every line of it."""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed import _mesh_layout as layouts
from mindtorch.distributed._mesh_env import _MeshEnv
from mindtorch.distributed._mesh_groups import PLAIN, OwnBackend, _normalize_backend_override, make_groups
from mindtorch.distributed._mesh_layout import Levels

__all__ = ["DeviceMesh", "init_device_mesh"]

_MANY_DIMS = "Found the DeviceMesh have {} dimensions"
_NEEDS_DIM = "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1."


_mesh_resources = _MeshEnv()


class DeviceMesh:
    """Ranks in an array, and along every dimension the group of this process's line."""

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: tuple[OwnBackend, ...] | None = None,
        _init_backend: bool = True,
        _rank: int | None = None,
        _layout: tuple[Levels, ...] | None = None,
        _rank_map: Any = None,
        _root_mesh: DeviceMesh | None = None,
        _groups: list[Any] | None = None,
    ) -> None:
        if mesh is not None:
            if _layout is not None or _rank_map is not None:
                raise TypeError("Cannot provide _layout and/or _rank_map if passing explicit mesh")
            given = mesh if isinstance(mesh, torch.Tensor) else torch.tensor(mesh, device="cpu", dtype=torch.int32)
            given = given.detach().to(device="cpu", dtype=torch.int32).contiguous()
            _layout, _rank_map = layouts.of_shape(tuple(given.shape)), given.flatten()
        elif _layout is None or _rank_map is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        self._layout, self._rank_map = _layout, _rank_map
        self._flatten_rank_map: tuple[int, ...] = tuple(_rank_map.tolist())
        self.device_type = device_type
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        self._root_mesh = _root_mesh
        if backend_override is None:
            backend_override = (PLAIN,) * self.ndim
        elif len(backend_override) != self.ndim:
            raise ValueError(
                "backend_override should have the same length as the number of mesh dimensions, but got "
                f"{len(backend_override)} and {self.ndim}."
            )
        self._flatten_mapping: dict[str, DeviceMesh] = {}
        self._begin(_init_backend, backend_override, _groups)
        self._rank = dist.get_rank() if _rank is None else _rank
        self.mesh = self._own_part()
        places = (self.mesh == self._rank).nonzero().tolist()
        self._coordinate_on_dim = tuple(places[0]) if places else None

    def _begin(self, with_groups: bool, backend_override: tuple[OwnBackend, ...], groups: list[Any] | None) -> None:
        """Take the groups that are given, or make them; all processes take part in making each."""
        self._groups = groups
        self._dim_group_names = [group.group_name for group in groups or () if group is not None]
        if with_groups:
            if not dist.is_initialized():
                dist.init_process_group()
            world = dist.get_world_size()
            if self.size() > world:
                raise RuntimeError(
                    f"Mesh should not be bigger than default world size {world}, but found {self.size()} ranks!"
                )
            if groups is None:
                names = self.mesh_dim_names or [f"dim_{dim}" for dim in range(self.ndim)]
                self._take(make_groups(self._layout, self._flatten_rank_map, names, backend_override))
        threaded = dist.is_initialized() and dist.get_backend() == "threaded"
        self._thread_id = threading.get_ident() if threaded else None

    def _take(self, groups: list[Any]) -> None:
        self._groups = groups
        self._dim_group_names = [group.group_name for group in groups if group is not None]

    def _own_part(self) -> Any:
        """Return the ranks of the mesh that this process is in."""
        meshes = layouts.parts(self._layout, self._flatten_rank_map)
        own = meshes if len(meshes) == 1 else [mesh for mesh in meshes if self._rank in mesh]
        if not own:
            raise RuntimeError(
                "In order to get the mesh Tensor of a DeviceMesh it needs to either have all its original dimensions "
                "(e.g., no slicing) or it needs to contain the local rank"
            )
        return torch.tensor(own[0], dtype=torch.int32, device="cpu").view(self.shape)

    def _get_root_mesh(self) -> DeviceMesh:
        return self if self._root_mesh is None else self._root_mesh

    def __enter__(self) -> DeviceMesh:
        _mesh_resources.mesh_stack.append(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, exc_traceback: Any) -> None:
        _mesh_resources.mesh_stack.pop()

    def __repr__(self) -> str:
        names = self.mesh_dim_names
        sizes = ", ".join(f"{name}={size}" for name, size in zip(names or (), self.shape, strict=False))
        strides = [tuple(stride for _, stride in levels) for levels in self._layout]
        shown = tuple(stride[0] if len(stride) == 1 else stride for stride in strides)
        more = f", Mesh: {self.mesh.tolist()}" if os.environ.get("TORCH_DISTRIBUTED_DEBUG") == "DETAIL" else ""
        return f"DeviceMesh({f'({sizes})' if names else self.shape}, {self.device_type!r}, stride={shown}{more})"

    def _hash_key(self) -> Any:
        return (self._flatten_rank_map, self._layout, self.device_type, self.mesh_dim_names, self._thread_id)

    def __hash__(self) -> int:
        return hash(self._hash_key())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DeviceMesh) and self._hash_key() == other._hash_key())

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the groups, which are known by their names."""
        return {**self.__dict__, "_groups": None}

    # Parts

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """Return the mesh of some dimensions, with the groups of this one."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        flat = self._flatten_mapping if self == self._get_root_mesh() else {}
        if any(name not in self.mesh_dim_names and name not in flat for name in names):
            known = [*self.mesh_dim_names, *flat]
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {known}.")
        if any(name not in self.mesh_dim_names for name in names):
            warnings.warn(
                "Slicing a flattened dim from root mesh will be deprecated in PT 2.11. Users need to bookkeep the "
                "flattened mesh directly. ",
                stacklevel=2,
            )
        sources = [(self, self.mesh_dim_names.index(name)) if name in self.mesh_dim_names else (flat[name], 0)
                   for name in names]  # fmt: skip
        dims = tuple(mesh._layout[dim] for mesh, dim in sources)
        if not layouts.in_order(dims):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        if not layouts.disjoint(dims):
            raise RuntimeError(f"Slicing overlapping dim_names {names} is not allowed.")
        return self._part(dims, names, [mesh._group(dim) for mesh, dim in sources])

    def _part(self, dims: tuple[Levels, ...], names: tuple[str, ...] | None, groups: list[Any]) -> DeviceMesh:
        """Return a mesh of other dimensions of the same ranks."""
        root = self._get_root_mesh()
        return DeviceMesh(
            self.device_type, mesh_dim_names=names, _init_backend=False, _layout=dims, _rank_map=root._rank_map,
            _root_mesh=root, _groups=groups,
        )  # fmt: skip

    def _flatten(self, mesh_dim_name: str | None = None, backend_override: Any = None) -> DeviceMesh:
        """Return a mesh of one dimension of the same processes."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name = mesh_dim_name or "_".join(self.mesh_dim_names)
        if self.ndim == 1 and name in self.mesh_dim_names:
            return self
        given: dict[int | str, Any] = {} if backend_override is None else {0: backend_override}
        backends = tuple(_normalize_backend_override(given, 1))
        root = self._get_root_mesh()
        if name in (root.mesh_dim_names or ()):
            raise ValueError(
                f"{name} already exists for submesh of the {root}. ",
                f"The mesh_dim_names of submesh and flattened mesh are {root.mesh_dim_names}. "
                "Please specify another valid mesh_dim_name.",
            )
        dims = (layouts.joined(self._layout),)
        known = root._flatten_mapping.get(name)
        if known is None:
            root._flatten_mapping[name] = known = DeviceMesh(
                root.device_type, mesh_dim_names=(name,), backend_override=backends, _layout=dims,
                _rank_map=root._rank_map, _root_mesh=root,
            )  # fmt: skip
        elif known._layout != dims:
            raise ValueError(
                f"Flatten mesh with mesh_dim_name {name} has been created before, Please specify another valid "
                "mesh_dim_name."
            )
        return known

    def _unflatten(
        self, dim: int | str, mesh_sizes: tuple[int, ...], mesh_dim_names: tuple[str, ...], backend_override: Any = None
    ) -> DeviceMesh:
        """Return a mesh with several dimensions in place of one."""
        own = self.mesh_dim_names or ()
        if isinstance(dim, int) and dim >= self.ndim:
            raise ValueError(f"dim {dim} specified in `_unflatten` is out of range {self.ndim}")
        if isinstance(dim, str) and dim not in own:
            raise ValueError(f"dim {dim} specified in `_unflatten` is not in {self.mesh_dim_names}")
        if len(mesh_sizes) != len(mesh_dim_names):
            raise RuntimeError("mesh_dim_names must have same length as mesh_sizes in _unflatten!")
        place = own.index(dim) if isinstance(dim, str) else dim
        backends = tuple(_normalize_backend_override(backend_override or {}, len(mesh_sizes), mesh_dim_names))
        wanted, there = layouts.size(layouts.joined(layouts.of_shape(mesh_sizes))), self.size(place)
        if wanted != there:
            raise ValueError(
                f"The product of mesh_sizes={mesh_sizes!r} is {wanted}, but the original dimension at dim={place} has size "
                f"{there}. These must be equal for unflatten to work correctly."
            )
        dims = layouts.split(self._layout[place], mesh_sizes)
        made = make_groups(dims, self._flatten_rank_map, mesh_dim_names, backends)
        groups = [self._group(index) for index in range(self.ndim)]
        return self._part(
            (*self._layout[:place], *dims, *self._layout[place + 1 :]),
            (*own[:place], *mesh_dim_names, *own[place + 1 :]),
            [*groups[:place], *made, *groups[place + 1 :]],
        )

    @staticmethod
    def _concatenate(device_mesh_list: list[DeviceMesh]) -> DeviceMesh:
        """Return the mesh of all dimensions of several parts of one mesh, in which this process's other coordinates are fixed."""
        first = device_mesh_list[0]
        if any(mesh._flatten_rank_map != first._flatten_rank_map for mesh in device_mesh_list):
            raise RuntimeError("Cannot concatenate DeviceMeshes derived from different device meshs")
        dims = tuple(levels for mesh in device_mesh_list for levels in mesh._layout)
        if not layouts.disjoint(dims):
            raise RuntimeError(f"Cannot concatenate overlapping meshes: {device_mesh_list}")
        names = tuple(name for mesh in device_mesh_list for name in mesh.mesh_dim_names or ())
        groups = [mesh._group(dim) for mesh in device_mesh_list for dim in range(mesh.ndim)]
        return first._part(dims, names or None, groups)

    def _get_all_submeshes(self, mesh_dim_name: str) -> list[DeviceMesh]:
        """Return the meshes of all lines along a dimension, this process's one with its group."""
        dim, found = self._get_mesh_dim_by_name(mesh_dim_name), []
        for line in layouts.parts([self._layout[dim]], self._flatten_rank_map):
            groups = [self._group(dim)] if dist.get_rank() in line else [None]
            names = (mesh_dim_name,)
            found.append(DeviceMesh(self.device_type, line, mesh_dim_names=names, _init_backend=False, _groups=groups))
        return found

    def _get_root_mesh_dim(self) -> int | None:
        """Return the dimension of the mesh that this one of one dimension was taken from."""
        names = self.mesh_dim_names
        if not names:
            return None
        if len(names) != 1:
            raise AssertionError("The submesh can only be a 1D mesh.")
        return self._get_root_mesh()._get_mesh_dim_by_name(names[0])

    def _get_mesh_dim_by_name(self, mesh_dim_name: str) -> int:
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if mesh_dim_name not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{mesh_dim_name}' does not exist.",
                f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
            )
        return self.mesh_dim_names.index(mesh_dim_name)

    def _dim(self, mesh_dim: int | str) -> int:
        return mesh_dim if isinstance(mesh_dim, int) else self._get_mesh_dim_by_name(mesh_dim)

    # Groups

    def _group(self, dim: int) -> Any:
        """Return a dimension's group, None where this process is not part of the mesh."""
        if self._groups is None:  # a mesh of a file or of another process: its groups are known by their names
            if not self._dim_group_names:
                raise RuntimeError("DeviceMesh process groups not initialized!")
            self._groups = [dist.distributed_c10d._resolve_process_group(name) for name in self._dim_group_names]
        return self._groups[dim]

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """Return the group of this process's line along a dimension."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                _MANY_DIMS.format(self.ndim),
                _NEEDS_DIM,
                "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                "please use `get_all_groups()` instead.",
            )
        if isinstance(mesh_dim, str) and mesh_dim in (flat := self._get_root_mesh()._flatten_mapping):
            return flat[mesh_dim]._group(0)
        return self._group(0 if mesh_dim is None else self._dim(mesh_dim))

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
            if mesh is not None and (mesh.tolist() if isinstance(mesh, torch.Tensor) else mesh) != ranks:
                raise ValueError(f"Invalid mesh {mesh!s} for ProcessGroup with ranks {ranks}")
            return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, _init_backend=False, _groups=[group])
        groups = list(group)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        if mesh_dim_names is None:
            raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
        array = torch.as_tensor(mesh)
        if array.ndim != len(groups):
            raise ValueError(
                "Expects mesh with ndim equal to number of ProcessGroups but got "
                f"mesh {array.tolist()} and {len(groups)} ProcessGroups"
            )
        return DeviceMesh(device_type, array, mesh_dim_names=mesh_dim_names, _init_backend=False, _groups=groups)

    # Questions

    def size(self, mesh_dim: int | None = None) -> int:
        """Return the number of processes, or that along a dimension."""
        return layouts.size(layouts.joined(self._layout) if mesh_dim is None else self._layout[mesh_dim])

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._layout)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of processes along every dimension."""
        return tuple(layouts.size(levels) for levels in self._layout)

    def get_rank(self) -> int:
        """Return this process's rank among all."""
        return dist.get_rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return this process's place along a dimension."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(_MANY_DIMS.format(self.ndim), _NEEDS_DIM)
        if self._coordinate_on_dim is None:
            raise RuntimeError("this process is not part of the mesh")
        return self._coordinate_on_dim[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Return this process's place in the mesh, None when it has none."""
        return self._coordinate_on_dim

    def _is_current_rank_part_of_mesh(self) -> bool:
        return self._coordinate_on_dim is not None


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """Arrange all ranks in a mesh of this shape."""
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
    backends = None
    if backend_override is not None:
        backends = tuple(_normalize_backend_override(backend_override, len(mesh_shape), mesh_dim_names))
    if device_type and not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    dims = layouts.of_shape(mesh_shape)
    ranks = torch.arange(layouts.size(layouts.joined(dims)), dtype=torch.int32, device="cpu")
    return DeviceMesh(
        device_type, mesh_dim_names=mesh_dim_names, backend_override=backends, _layout=dims, _rank_map=ranks
    )


adopt(globals())
