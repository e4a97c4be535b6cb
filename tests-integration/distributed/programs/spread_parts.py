"""What one rank sees of tensors that are spread, and what is refused. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
spread = importlib.import_module(f"{library}.distributed.tensor")
meshes = importlib.import_module(f"{library}.distributed.device_mesh")

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = meshes.init_device_mesh("cpu", (size,))


def terms():
    return spread.distribute_tensor(torch.arange(35.0).reshape(7, 5), mesh, [spread.Shard(0)]).sum()


def of_other_sizes():
    """Return the whole of parts that are not as long as the shape has them."""
    part, count = torch.ones(rank + 1, 3) * (rank + 1), size * (size + 1) // 2
    whole = spread.DTensor.from_local(part, mesh, [spread.Shard(0)], shape=torch.Size((count, 3)), stride=(3, 1))
    return whole.full_tensor().tolist()


CASES = {
    "to terms": lambda: terms().redistribute(mesh, [spread.Partial("max")]),
    "shards to terms": lambda: spread.zeros(4, device_mesh=mesh, placements=[spread.Shard(0)]).redistribute(
        mesh, [spread.Partial()]
    ),
    "terms of ones": lambda: spread.ones(2, device_mesh=mesh, placements=[spread.Partial()]).full_tensor().tolist(),
    "filled": lambda: [
        spread.full(size=(5, 2), fill_value=3, device_mesh=mesh, placements=[spread.Shard(0)]).full_tensor().tolist(),
        spread.full(3, 2.5, device_mesh=mesh).full_tensor().tolist(),
        spread.zeros(device_mesh=mesh).full_tensor().tolist(),
        spread.ones([2, 1], device_mesh=mesh, dtype=torch.int8).full_tensor().tolist(),
    ],
    "other layout": lambda: spread.zeros(2, layout=torch.sparse_coo, device_mesh=mesh),
    "too many placements": lambda: spread.zeros(2, device_mesh=mesh, placements=[spread.Shard(0)] * 2),
    "unknown argument": lambda: spread.zeros(2, device="cpu", device_mesh=mesh),
    "a mesh of nothing": lambda: meshes.DeviceMesh("cpu"),
    "no such dimension": lambda: spread.DTensor.from_local(torch.ones(2, 3), mesh, [spread.Shard(5)]),
    "of other sizes": of_other_sizes,
}
said = {}
for name, case in CASES.items():
    try:
        said[name] = case()
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        said[name] = [type(error).__name__, str(error)]
waiting = terms()
if rank == 0:  # nobody else asks for it: a number is read without the others
    said["number of terms"] = [waiting.item(), float(waiting), int(waiting)]
    with open(target, "w") as stream:
        json.dump(said, stream)
dist.destroy_process_group()
