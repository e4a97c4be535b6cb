"""Spread parameters that are spread already: tensor-parallel layers given to `fully_shard`. Arguments: library, file, folder."""

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
placing = importlib.import_module(f"{library}.distributed.tensor.placement_types")
init_device_mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
nn = torch.nn
warnings.simplefilter("ignore")


class Block(nn.Module):
    """A norm, a layer cut by rows and one cut by columns, with odd sizes."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width - 2), nn.Linear(4 * width - 2, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    """Words, two blocks, a head."""

    def __init__(self, width=10):
        super().__init__()
        self.words = nn.Embedding(21, width)
        self.blocks = nn.ModuleList([Block(width) for _ in "ab"])
        self.head = nn.Linear(width, 21)

    def forward(self, tokens):
        hidden = self.words(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden)


def made(mesh, seed=0, everywhere=False, **arguments):
    """Return the model, its layers cut along `tp` and all of it along the other dimensions."""
    torch.manual_seed(seed)
    model = Model()
    for block in model.blocks:
        plan = {"up": parallel.ColwiseParallel(), "down": parallel.RowwiseParallel()}
        if everywhere:
            plan["norm"] = parallel.SequenceParallel()
            plan["up"] = parallel.ColwiseParallel(input_layouts=spread.Shard(1))
            plan["down"] = parallel.RowwiseParallel(output_layouts=spread.Shard(1))
        parallel.parallelize_module(block, mesh["tp"], plan)
    if everywhere:
        plan = {
            "words": parallel.RowwiseParallel(input_layouts=spread.Replicate(), output_layouts=spread.Shard(1)),
            "head": parallel.ColwiseParallel(input_layouts=spread.Shard(1), output_layouts=spread.Replicate()),
        }
        parallel.parallelize_module(model, mesh["tp"], plan)
    rest = tuple(name for name in mesh.mesh_dim_names if name != "tp")
    for block in model.blocks:
        fsdp.fully_shard(block, mesh=mesh[rest if len(rest) > 1 else rest[0]], **arguments)
    return fsdp.fully_shard(model, mesh=mesh[rest if len(rest) > 1 else rest[0]], **arguments)


def train(model, optimizer, mesh, steps=4, clip=None, accumulate=False):
    """Return losses and norms; ranks along `tp` have the same tokens."""
    line = mesh.get_local_rank("dp") + 10 * (mesh.get_local_rank("copies") if "copies" in mesh.mesh_dim_names else 0)
    generator = torch.Generator().manual_seed(line)
    losses = []
    for _ in range(steps):
        tokens = torch.randint(0, 21, (3, 6), generator=generator)
        if accumulate:
            model.set_requires_gradient_sync(False)
            nn.functional.cross_entropy(model(tokens).flatten(0, 1).float(), tokens.flatten()).backward()
            model.set_requires_gradient_sync(True)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1).float(), tokens.flatten().roll(1))
        loss.backward()
        losses.append(loss.item())
        if clip is not None:
            losses.append(nn.utils.clip_grad_norm_(model.parameters(), clip).full_tensor().item())
        optimizer.step()
        optimizer.zero_grad()
    return losses


def told(state):
    """Return what parameters are, and their values as wholes."""
    kinds = [[name, repr(value.placements), list(value.device_mesh.mesh_dim_names), list(value.to_local().shape)]
             for name, value in state.items()]  # fmt: skip
    return kinds, {name: value.full_tensor().flatten().tolist() for name, value in state.items()}


def run(mesh, clip=None, accumulate=False, **arguments):
    """Train, and tell everything."""
    model = made(mesh, **arguments)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = train(model, optimizer, mesh, clip=clip, accumulate=accumulate)
    mine = {name: value.to_local().flatten().tolist() for name, value in model.state_dict().items()}
    return [losses, *told(model.state_dict()), mine]


def checkpoints(mesh, other):
    """Save, load into another arrangement and through whole states, and go on training."""
    model = made(mesh, everywhere=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    train(model, optimizer, mesh, steps=2)
    own, optims = states.get_state_dict(model, optimizer)
    dcp.save({"model": own, "optim": optims}, checkpoint_id=folder)
    again = made(other, seed=1, everywhere=True)
    optimizer = torch.optim.AdamW(again.parameters(), lr=1e-2)
    own, optims = states.get_state_dict(again, optimizer)
    loaded = {"model": own, "optim": optims}
    dcp.load(loaded, checkpoint_id=folder)
    states.set_state_dict(again, optimizer, model_state_dict=loaded["model"], optim_state_dict=loaded["optim"])
    result = [told(again.state_dict()), train(again, optimizer, other)]
    full = states.StateDictOptions(full_state_dict=True, cpu_offload=True)
    whole = states.get_model_state_dict(again, options=full)
    third = made(mesh, seed=2, everywhere=True)
    spread_out = states.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    states.set_model_state_dict(third, whole, options=spread_out)
    return [*result, told(third.state_dict())]


def strided(mesh):
    """Arrange strided shards by hand, and compute with them."""
    rows = torch.arange(24.0).view(12, 2)
    odd = [placing._StridedShard(0, split_factor=mesh.size(1)), spread.Shard(0)]
    given = spread.distribute_tensor(rows, mesh, odd)
    kept = [given.to_local().tolist(), given.full_tensor().tolist(), (given * 2 + given).to_local().tolist()]
    kept += [given.sum().full_tensor().item(), given.norm().full_tensor().item()]
    kept += [given.t().contiguous().full_tensor().tolist(), given.cumsum(0).full_tensor().tolist()]
    back = given.redistribute(mesh, [spread.Replicate(), spread.Shard(0)])
    kept += [
        back.to_local().tolist(),
        repr(given.placements),
        str(odd[0]),
        odd[0].is_shard(),
        odd[0] == spread.Shard(0),
    ]
    kept += [back.redistribute(mesh, odd).to_local().tolist(), (given + back).full_tensor().tolist()]
    kept += [given.redistribute(mesh, [spread.Shard(1), spread.Shard(0)]).to_local().tolist()]
    try:
        spread.DTensor.from_local(rows, mesh, [spread.Partial("max"), spread.Partial("avg")])
    except ValueError as error:
        kept.append(str(error).partition("Found")[0])
    return kept


dist.init_process_group("gloo")
size = dist.get_world_size()
two = init_device_mesh("cpu", (size // 2, 2), mesh_dim_names=("dp", "tp"))
flat = init_device_mesh("cpu", (size, 1), mesh_dim_names=("dp", "tp"))
three = init_device_mesh("cpu", (size // 2, 1, 2), mesh_dim_names=("copies", "dp", "tp"))
half = fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
ways = {
    "plain": lambda: run(two),
    "accumulated": lambda: run(two, accumulate=True),
    "everywhere": lambda: run(two, clip=0.5, everywhere=True),
    "one way": lambda: run(flat, clip=0.5, everywhere=True),
    "copies": lambda: run(three, everywhere=True),
    "half": lambda: run(two, mp_policy=half),
    "checkpoints": lambda: checkpoints(two, flat),
    "strided": lambda: strided(two),
}
results = {name: way() for name, way in ways.items() if name in sys.argv[4:] or not sys.argv[4:]}
everyone = [None] * size
dist.all_gather_object(everyone, results)
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(everyone, stream)
dist.destroy_process_group()
