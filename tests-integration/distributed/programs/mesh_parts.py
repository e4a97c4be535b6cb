"""Parts of meshes, and what is refused; rank 0 writes what all ranks found. Arguments: library, file."""

import copy
import importlib
import json
import pickle
import sys
import warnings

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
meshes = importlib.import_module(f"{library}.distributed.device_mesh")
new, Mesh, resources = meshes.init_device_mesh, meshes.DeviceMesh, meshes._mesh_resources

dist.init_process_group("gloo")
cube = new("cpu", (2, 1, 2), mesh_dim_names=("dp", "cp", "tp"))
line = new("cpu", (4,), mesh_dim_names=("w",))
pair = Mesh("cpu", [0, 1])
flat = cube["dp", "cp"]._flatten("dpcp")
whole = cube._flatten("all")
unflat = line._unflatten(0, (2, 2), ("a", "b"))
copied = pickle.loads(pickle.dumps(cube["dp"]))
groups = [cube.get_group("dp"), cube.get_group("tp")]
square = [[0, 1], [2, 3]]


def ranks(mesh):
    return [repr(mesh), mesh.mesh.tolist(), [dist.get_process_group_ranks(group) for group in mesh.get_all_groups()]]


CASES = {
    "slices": lambda: [ranks(cube[names]) for names in ("dp", "cp", "tp", ("dp", "tp"), ("dp", "cp"), ("tp", "cp"))],
    "slice backwards": lambda: cube["tp", "dp"],
    "slice of nothing": lambda: cube["x"],
    "slice with a flat one": lambda: [ranks(cube["dpcp", "tp"]), cube.get_group("dpcp").size()],
    "slice twice the same": lambda: cube["dp", "dpcp"],
    "flat backwards": lambda: cube["tp", "dpcp"],
    "flat": lambda: [ranks(mesh) for mesh in (flat, whole, unflat["a", "b"]._flatten(), unflat._flatten("z"))],
    "flat with a name of the mesh": lambda: cube["dp", "cp"]._flatten("tp"),
    "flat with a name of another": lambda: cube["cp", "tp"]._flatten("dpcp"),
    "flat of one": lambda: [repr(cube["tp"]._flatten("tp")), repr(cube["tp"]._flatten("tq"))],
    "unflat": lambda: [ranks(mesh) for mesh in (unflat, unflat["a"], unflat["b"]._unflatten(0, (1, 2), ("c", "d")))],
    "unflat of a flat one": lambda: ranks(whole._unflatten("all", (2, 2), ("p", "q"))["p"]),
    "unflat, root and groups": lambda: [repr(unflat._get_root_mesh()), [g.group_desc for g in unflat.get_all_groups()]],
    "unflat to another size": lambda: line._unflatten("w", (2, 3), ("a", "b")),
    "unflat of nothing": lambda: line._unflatten("x", (2, 2), ("a", "b")),
    "unflat beyond": lambda: line._unflatten(3, (2, 2), ("a", "b")),
    "unflat with few names": lambda: line._unflatten(0, (2, 2), ("a",)),
    "together": lambda: [ranks(Mesh._concatenate([cube[one], cube[other]])) for one, other in (("dp", "tp"), ("tp", "dp"))],
    "together, overlapping": lambda: Mesh._concatenate([cube["dp"], flat]),
    "together, overlapping in ranks": lambda: Mesh._concatenate([cube["tp"], line]),
    "backend of nothing": lambda: new("cpu", (2, 2), mesh_dim_names=("a", "b"), backend_override={"c": "fake"}),
    "backend twice": lambda: new("cpu", (2, 2), mesh_dim_names=("a", "b"), backend_override={"a": "fake", 0: "gloo"}),
    "backend beyond": lambda: new("cpu", (2, 2), backend_override={5: "fake"}),
    "backends, few": lambda: Mesh("cpu", [0, 1], backend_override=()),
    "equal": lambda: [cube["dp"] == cube["dp"], hash(cube["dp"]) == hash(cube["dp"]), cube == line, cube["dp", "tp"] == unflat],
    "without groups": lambda: Mesh("cpu", [0, 1, 2, 3], _init_backend=False).get_group(),
    "lines": lambda: [mesh.mesh.tolist() for mesh in cube._get_all_submeshes("dp")],
    "questions": lambda: [cube["dp"]._get_root_mesh_dim(), cube._rank, cube._is_current_rank_part_of_mesh()],
    "sizes": lambda: [cube.size(0), cube.size(), cube.shape, cube.ndim],
    "no such dimension": lambda: cube._get_mesh_dim_by_name("q"),
    "root": lambda: repr(resources.get_root_mesh(cube["tp"])),
    "no mesh": lambda: resources.get_current_mesh(),
    "groups without names": lambda: Mesh.from_group(groups, "cpu", square),
    "groups": lambda: ranks(Mesh.from_group(groups, "cpu", square, mesh_dim_names=("a", "b"))["b"]),
    "group of others": lambda: Mesh.from_group(groups[0], "cpu", [7, 8]),
    "copied": lambda: [copied == cube["dp"], copied.get_group() is groups[0], copied._get_root_mesh() == cube],
    "copied deeply": lambda: copy.deepcopy(cube) == cube,
    "some": lambda: [pair.get_coordinate(), pair.mesh.tolist()],
    "too many": lambda: Mesh("cpu", list(range(5))),
    "another order": lambda: ranks(Mesh("cpu", [[0, 2], [1, 3]], mesh_dim_names=("a", "b"))["b"]),
}  # fmt: skip


def told(case):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            found = case()
        except (AssertionError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            found = [type(error).__name__, str(error)]
    return [found, [str(warning.message) for warning in given]]


own = {name: told(case) for name, case in CASES.items()}
every = [None] * dist.get_world_size()
dist.all_gather_object(every, own)
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(every, stream)
if library == "mindtorch":  # torch waits for ever for groups that are made after one of this backend
    other = new("cpu", (2, 2), mesh_dim_names=("a", "b"), backend_override={"a": "fake"})
    assert (dist.get_backend(other.get_group("a")), dist.get_backend(other.get_group("b"))) == ("fake", "gloo")
dist.barrier()  # rank 0, which has the store, ends after all have made their groups
dist.destroy_process_group()
