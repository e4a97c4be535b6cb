"""What meshes say they are: with dimensions of one, parts of meshes, flattened ones. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
dist = importlib.import_module(f"{library}.distributed")
meshes = importlib.import_module(f"{library}.distributed.device_mesh")

dist.init_process_group("gloo")
size = dist.get_world_size()
said = []
for shape, names in (
    ((1, size), ("a", "b")),
    ((size, 1), ("a", "b")),
    ((1, 1, size), ("a", "b", "c")),
    ((size,), None),
    ((size, 1), None),
    *([((2, size // 2), ("a", "b")), ((2, size // 2, 1), ("a", "b", "c"))] if size > 3 else []),
):
    mesh = meshes.init_device_mesh("cpu", shape, mesh_dim_names=names)
    said.append(repr(mesh))
    if names is not None:
        pairs = [mesh[names[:2]], mesh[names[1:]], mesh[names[:2]]._flatten("flat")]
        said += [repr(one) for one in (*(mesh[name] for name in names), *pairs)]
said.append(repr(meshes.DeviceMesh("cpu", [[*range(1, size), 0]])))
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(said, stream)
dist.barrier()  # rank 0, which has the store, ends after all have made their groups
dist.destroy_process_group()
