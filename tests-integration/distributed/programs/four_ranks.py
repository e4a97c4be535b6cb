"""What several ranks do together, each in its own way. Arguments: library, file, folder, ways.

The ways are those of WAYS, or `load NAME`, `save NAME`: a checkpoint of the folder that other numbers of ranks wrote.
"""

import importlib
import json
import sys
import warnings

library, target, folder = sys.argv[1:4]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fsdp = importlib.import_module(f"{library}.distributed.fsdp")
dcp = importlib.import_module(f"{library}.distributed.checkpoint")
states = importlib.import_module(f"{library}.distributed.checkpoint.state_dict")
spread = importlib.import_module(f"{library}.distributed.tensor")
parallel = importlib.import_module(f"{library}.distributed.tensor.parallel")
pipelining = importlib.import_module(f"{library}.distributed.pipelining")
mesh_of = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
nn = torch.nn
warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


class Block(nn.Module):
    """A norm and two layers."""

    def __init__(self, width, inner):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def made(inner=38):
    """Return words, two blocks and a head, the same on every rank; four divide no size of theirs."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(21, 10), Block(10, inner), Block(10, inner), nn.Linear(10, 21))


def train(model, seed, steps=3, clip=True):
    """Return losses, and norms of gradients that are clipped."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    generator, told = torch.Generator().manual_seed(7 + seed), []
    for _ in range(steps):
        tokens = torch.randint(0, 21, (3, 6), generator=generator)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten().roll(1))
        loss.backward()
        told.append(loss.item())
        if clip:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            told.append((norm.full_tensor() if hasattr(norm, "full_tensor") else norm).item())
        optimizer.step()
        optimizer.zero_grad()
    return told


def sharded(*shape, **options):
    """Return the model in shards, in copies along the first of two dimensions."""
    mesh, model = mesh_of("cpu", shape, mesh_dim_names=("copies", "parts")[-len(shape) :]), made()
    for block in model[1:3]:
        fsdp.fully_shard(block, mesh=mesh, **options)
    return fsdp.fully_shard(model, mesh=mesh, **options)


def cut():
    """Return the model with layers cut along the ranks, its loss computed from parts."""
    model, mesh = made(40), mesh_of("cpu", (size,))
    for block in model[1:3]:
        plan = {"up": parallel.ColwiseParallel(), "down": parallel.RowwiseParallel()}
        parallel.parallelize_module(block, mesh, plan)
    plan = {
        "0": parallel.RowwiseParallel(input_layouts=spread.Replicate()),
        "3": parallel.ColwiseParallel(output_layouts=spread.Replicate()),
    }
    return parallel.parallelize_module(model, mesh, plan)


def spread_tensor():
    """Return a table's parts, and what comes of it in several arrangements."""
    mesh = mesh_of("cpu", (2, size // 2), mesh_dim_names=("rows", "columns"))
    table = spread.distribute_tensor(torch.arange(35.0).view(7, 5), mesh, [spread.Shard(0), spread.Shard(1)])
    turned = table.redistribute(mesh, [spread.Shard(1), spread.Replicate()])
    product = table @ table.t()
    found = [
        table.to_local(),
        turned.to_local(),
        product.full_tensor(),
        table.softmax(1).full_tensor(),
        table.sum(0).full_tensor(),
    ]
    return [one.tolist() for one in found]  # fmt: skip


def subgroups():
    """Return what halves, and ranks in another order, make together."""
    halves, _ = dist.new_subgroups(size // 2)
    crossed = dist.new_group([0, size - 1])
    mine = torch.arange(4.0) + rank
    dist.all_reduce(mine, group=halves)
    told = [mine.tolist(), dist.get_group_rank(halves, rank), dist.get_process_group_ranks(halves)]
    if rank in (0, size - 1):
        parts = [torch.zeros(2) for _ in "ab"]
        dist.all_gather(parts, torch.full((2,), float(rank)), group=crossed)
        sent = [f"from {rank}"]
        dist.broadcast_object_list(sent, src=size - 1, group=crossed)
        told += [[one.tolist() for one in parts], sent]
    came = [rank + 1] * size
    uneven = torch.zeros(sum(came))
    sent = torch.arange(1.0, size * (size + 1) // 2 + 1) * (rank + 1)
    dist.all_to_all_single(uneven, sent, came, [peer + 1 for peer in range(size)])
    own = torch.zeros(1)
    dist.scatter(own, [torch.full((1,), 9.0 + peer) for peer in range(size)] if rank == 1 else None, src=1)
    return [*told, uneven.tolist(), own.item()]


def pipeline():
    """Return gradients and losses of a stage."""
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(6, 6), nn.Tanh()) for _ in range(size)]
    stage = pipelining.PipelineStage(layers[rank], rank, size, torch.device("cpu"))
    schedule = pipelining.Schedule1F1B(stage, size, loss_fn=lambda output, wanted: (output - wanted).pow(2).mean())
    generator, losses = torch.Generator().manual_seed(3), []
    given, wanted = (torch.randn(2 * size, 6, generator=generator) for _ in "ab")
    options = {"target": wanted, "losses": losses} if rank == size - 1 else {}
    schedule.step(*([given] if rank == 0 else []), **options)
    return [p.grad.tolist() for p in layers[rank].parameters()] + [loss.item() for loss in losses]


WAYS = {
    "data": lambda: train(nn.parallel.DistributedDataParallel(made(), bucket_cap_mb=0.001), rank),
    "shards": lambda: train(sharded(size), rank),
    "copies": lambda: train(sharded(2, size // 2, reshard_after_forward=False), rank),
    "cut": lambda: train(cut(), 0, clip=False),
    "spread": spread_tensor,
    "subgroups": subgroups,
    "pipeline": pipeline,
}


def trained():
    """Return the model in shards and its optimizer, after a step, or with nothing in them to be loaded."""
    model = sharded(size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.arange(18).view(3, 6)).pow(2).sum().backward()
    optimizer.step()
    return model, optimizer


def wholes(model, optimizer):
    """Return sums of whole parameters and of what the optimizer keeps for them."""
    kept = [value for state in optimizer.state.values() for value in state.values() if value.dim()]
    return [value.full_tensor().double().sum().item() for value in [*model.parameters(), *kept]]


def save(name):
    """Write a checkpoint."""
    model, optimizer = trained()
    dcp.save(
        dict(zip(("model", "optim"), states.get_state_dict(model, optimizer), strict=True)),
        checkpoint_id=f"{folder}/{name}",
    )
    return wholes(model, optimizer)  # fmt: skip


def load(name, again):
    """Read a checkpoint over other values, and write what was read."""
    model, optimizer = trained()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    own = dict(zip(("model", "optim"), states.get_state_dict(model, optimizer), strict=True))
    dcp.load(own, checkpoint_id=f"{folder}/{name}")
    states.set_state_dict(model, optimizer, model_state_dict=own["model"], optim_state_dict=own["optim"])
    dcp.save(own, checkpoint_id=f"{folder}/{again}")
    return wholes(model, optimizer)


if sys.argv[4] in ("save", "load"):
    results = {sys.argv[4]: {"save": save, "load": load}[sys.argv[4]](*sys.argv[5:])}
else:
    results = {way: WAYS[way]() for way in sys.argv[4:]}
everyone = [None] * size
dist.all_gather_object(everyone, results)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(everyone, stream)
dist.destroy_process_group()
