"""Ops on terms of sums and on candidates for extremes, and what spread tensors are refused with. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
spread = importlib.import_module(f"{library}.distributed.tensor")
init_device_mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size,))
Shard, Partial, copies = spread.Shard, spread.Partial, spread.Replicate()


def made(placement, *shape, seed=0):
    """Return a spread tensor; of terms, those of each rank differ."""
    generator = torch.Generator().manual_seed(seed)
    if isinstance(placement, Partial):
        part = torch.randn(size, *(shape or (4, 6)), generator=generator)[rank]
        return spread.DTensor.from_local(part, mesh, [placement], run_check=False)
    return spread.distribute_tensor(torch.randn(*(shape or (4, 6)), generator=generator), mesh, [placement])


def told(action):
    """Return placements and values of what an action gives, or what it raises."""
    try:
        given = action()
    except (IndexError, RuntimeError) as error:
        return [type(error).__name__, str(error)]
    many = given if isinstance(given, (list, tuple)) else [given]
    return [[str(one.placements), one.full_tensor().double().flatten().tolist()] for one in many]


UNARY = (
    "abs asinh atan ceil clone cos deg2rad detach erf erfc exp exp2 expm1 floor neg positive rad2deg reciprocal relu round "
    "sgn sigmoid sign sin sinh square tanh trunc"
)
BINARY = "add sub mul maximum minimum fmax fmin logaddexp"


def of_terms(kind):
    """Return what ops do with terms of a kind."""
    term, other = Partial(kind), 1
    results = {name: told(lambda name=name: getattr(torch, name)(made(term))) for name in UNARY.split()}
    for name in BINARY.split():
        op = getattr(torch, name)
        results[f"{name}, terms"] = told(lambda op=op: op(made(term), made(term, seed=other)))
        results[f"{name}, a copy"] = told(lambda op=op: op(made(term), made(copies, seed=other)))
        results[f"{name}, to a copy"] = told(lambda op=op: op(made(copies, seed=other), made(term)))
        results[f"{name}, a shard"] = told(lambda op=op: op(made(term), made(Shard(0), seed=other)))
    for name in ("add_", "sub_", "copy_"):
        results[f"{name} terms"] = told(lambda name=name: getattr(made(term), name)(made(term, seed=other)))
        results[f"{name} a copy"] = told(lambda name=name: getattr(made(term), name)(made(copies, seed=other)))
    for name in ("neg_", "relu_", "exp_", "zero_"):
        results[name] = told(lambda name=name: getattr(made(term), name)())
    for name, operand in (("add", 1), ("add_", 1), ("mul", 2), ("mul_", 2), ("div", 2), ("div_", 2)):
        results[f"{name} {operand}"] = told(lambda name=name, operand=operand: getattr(made(term), name)(operand))
    results["double"] = told(lambda: made(term).double())
    results["cat"] = told(lambda: torch.cat([made(term), made(term, seed=other)]))
    results["cat with a copy"] = told(lambda: torch.cat([made(term), made(copies, seed=other)]))
    results["stack"] = told(lambda: torch.stack([made(term), made(term, seed=other)]))
    if kind in ("sum", "avg"):
        results["mm"] = told(lambda: torch.mm(made(term), made(copies, 6, 3)))
        results["mm of a copy"] = told(lambda: torch.mm(made(copies, 3, 4), made(term)))
    results["like"] = str(torch.empty_like(made(term)).placements)
    return results


def misfits(left, right):
    """Return what ops raise whose operands do not fit."""
    return {
        "mm": told(lambda: torch.mm(made(left, 4, 6), made(right, 5, 4))),
        "matmul": told(lambda: made(left, 4, 6) @ made(right, 5, 4)),
        "linear": told(lambda: torch.nn.functional.linear(made(left, 4, 6), made(right, 5, 4))),
        "addmm": told(lambda: torch.addmm(made(copies, 4), made(left, 4, 6), made(right, 5, 4))),
        "bmm": told(lambda: torch.bmm(made(left, 2, 4, 6), made(right, 2, 5, 4))),
        "bmm, batches": told(lambda: torch.bmm(made(left, 2, 4, 6), made(right, 3, 6, 4))),
        "view": told(lambda: made(left).view(5, 5)),
        "sum": told(lambda: made(left).sum(5)),
        "transpose": told(lambda: made(left).transpose(0, 5)),
        "permute": told(lambda: made(left).permute(0)),
        "softmax": told(lambda: made(left).softmax(4)),
        "expand": told(lambda: made(left).expand(3, 6)),
        "row": told(lambda: made(left)[7]),
    }


found = {kind: of_terms(kind) for kind in ("sum", "avg", "max", "min")}
for left, right in ((Shard(0), copies), (Shard(1), Shard(0)), (copies, copies)):
    found[f"{left} {right}"] = misfits(left, right)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(found, stream)
dist.destroy_process_group()
