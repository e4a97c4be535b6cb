"""What FSDP1's class refuses, warns of and chooses when a module is wrapped. Arguments: library, file."""

import importlib
import json
import sys
import warnings

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fsdp = importlib.import_module(f"{library}.distributed.fsdp")
init_device_mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
hooks = importlib.import_module(f"{library}.distributed.algorithms._comm_hooks").default_hooks
nn, FSDP, strategies = torch.nn, fsdp.FullyShardedDataParallel, fsdp.ShardingStrategy
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
host = torch.device("cpu")


def linear(**arguments):
    """Return a layer."""
    return nn.Linear(3, 4, **arguments)


def wrapped(module=None, **arguments):
    """Return a module, wrapped on the host."""
    return FSDP(module or linear(), **{"device_id": host, **arguments})


def strategy(**arguments):
    """Return the strategy that is left when a module is wrapped."""
    return str(wrapped(**arguments).sharding_strategy)


def mesh(*sizes):
    """Return a mesh of these sizes."""
    return init_device_mesh("cpu", sizes, mesh_dim_names=("copies", "parts")[: len(sizes)])


def trained(**arguments):
    """Return losses of a small model on data of each rank's own."""
    torch.manual_seed(0)
    model = wrapped(nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)), **arguments)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank + 1)
    losses = []
    for _ in range(3):
        loss = model(torch.randn(4, 5)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def hooked(given, state, hook):
    """Return losses where a hook reduces gradients, and how often it was called."""
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    model = wrapped(layers, sharding_strategy=given, auto_wrap_policy=linears)
    model.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank + 1)
    losses = []
    for _ in range(3):
        loss = model(torch.randn(4, 5)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return [*losses, float(len(state)) if isinstance(state, list) else 0.0]


def own_hook(state, grads, output=None):
    """Add gradients up, take a part of them, and count."""
    state.append(None)
    if output is None:
        dist.all_reduce(grads)
        grads.mul_(0.3)
    else:
        dist.reduce_scatter_single(output, grads)
        output.mul_(0.3)


def hooked_twice():
    """Give a module two hooks."""
    model = wrapped()
    for _ in range(2):
        model.register_comm_hook([], own_hook)


def materialized():
    """Return where parameters are that were made on `meta`, and their sum."""
    torch.manual_seed(3)
    model = wrapped(linear(device="meta"), use_orig_params=True)
    with FSDP.summon_full_params(model):
        return [round(parameter.sum().item(), 5) for parameter in model.parameters()]


def inner(what):
    """Do what the outermost one alone does, on one within."""
    model = wrapped(nn.Sequential(wrapped()))
    model(torch.ones(1, 3)).sum().backward()
    return what(model[0])


def forms():
    """Choose the form of state dicts."""
    model = wrapped()
    with FSDP.state_dict_type(model, fsdp.StateDictType.FULL_STATE_DICT):
        inside = str(FSDP.get_state_dict_type(model))
    return [inside, str(FSDP.set_state_dict_type(model, fsdp.StateDictType.SHARDED_STATE_DICT))]


def said(action):
    """Return what an action gives or raises, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = action()
        except Exception as error:  # noqa: BLE001 - whatever either side raises is compared
            result = [type(error).__name__, str(error)]
    return [result, [[kept.category.__name__, str(kept.message)] for kept in caught]]


alone = [dist.new_group([one]) for one in range(size)][rank]
linears = fsdp.wrap.ModuleWrapPolicy({nn.Linear})
mixed, frozen = nn.Sequential(linear(), linear().double()), nn.Sequential(linear(), linear().requires_grad_(False))
SCENARIOS = {
    "a name for a strategy": lambda: strategy(sharding_strategy="FULL_SHARD"),
    "a number for a strategy": lambda: strategy(sharding_strategy=1),
    "a group of one": lambda: strategy(process_group=alone),
    "copies of parts by hand": lambda: strategy(sharding_strategy=strategies.HYBRID_SHARD),
    "copies of parts of one group": lambda: strategy(
        process_group=dist.group.WORLD, sharding_strategy=strategies.HYBRID_SHARD
    ),
    "copies of parts of three groups": lambda: strategy(
        process_group=(alone,) * 3, sharding_strategy=strategies.HYBRID_SHARD
    ),
    "copies of parts on a row": lambda: strategy(device_mesh=mesh(size), sharding_strategy=strategies.HYBRID_SHARD),
    "copies of parts on a column": lambda: strategy(
        device_mesh=mesh(size, 1), sharding_strategy=strategies.HYBRID_SHARD
    ),
    "copies of parts by hosts": lambda: strategy(
        module=nn.Sequential(linear()), auto_wrap_policy=linears, sharding_strategy=strategies.HYBRID_SHARD
    ),
    "trained on a column": lambda: trained(device_mesh=mesh(size, 1)),
    "trained on a row": lambda: trained(device_mesh=mesh(1, size), sharding_strategy=strategies.HYBRID_SHARD),
    "synchronized": lambda: str(wrapped(sync_module_states=True)),
    "ignored twice": lambda: wrapped(ignored_modules=[linear()], ignored_states=[linear()]),
    "ignored number": lambda: wrapped(ignored_modules=3),
    "ignored modules": lambda: wrapped(ignored_modules=[3]),
    "ignored states": lambda: wrapped(ignored_states=[3]),
    "ignored wrapped": lambda: wrapped(nn.Sequential(wrapped()), ignored_modules=[wrapped()]),
    "mixed": lambda: wrapped(mixed),
    "frozen": lambda: wrapped(frozen),
    "frozen, with its own parameters": lambda: str(wrapped(frozen, use_orig_params=True).sharding_strategy),
    "no function": lambda: wrapped(linear(device="meta"), param_init_fn=3),
    "meta": materialized,
    "inner no_sync": lambda: inner(lambda one: one.no_sync().__enter__()),
    "inner clip": lambda: inner(lambda one: one.clip_grad_norm_(1.0)),
    "clip of nothing": lambda: wrapped().clip_grad_norm_(1.0).item(),
    "root": lambda: [wrapped()._is_root, wrapped().check_is_root(), str(wrapped().compute_device)],
    "forms": forms,
    "forms of nothing": lambda: [
        str(FSDP.get_state_dict_type(linear())),
        str(FSDP.set_state_dict_type(linear(), fsdp.StateDictType.FULL_STATE_DICT)),
    ],
}
everybody = hooks.DefaultState(dist.group.WORLD)
for chosen in (strategies.FULL_SHARD, strategies.SHARD_GRAD_OP, strategies.NO_SHARD):
    plain = hooks.allreduce_hook if chosen is strategies.NO_SHARD else hooks.reduce_scatter_hook
    SCENARIOS[f"own hook, {chosen}"] = lambda chosen=chosen: hooked(chosen, [], own_hook)
    SCENARIOS[f"a hook, {chosen}"] = lambda chosen=chosen, plain=plain: hooked(chosen, everybody, plain)
SCENARIOS["two hooks"] = hooked_twice
SCENARIOS["no hook"] = lambda: wrapped().register_comm_hook([], 3)
SCENARIOS["inner hook"] = lambda: inner(lambda one: one.register_comm_hook([], own_hook))
SCENARIOS["a hook for copies of parts"] = lambda: wrapped(
    device_mesh=mesh(1, size), sharding_strategy=strategies.HYBRID_SHARD
).register_comm_hook([], own_hook)
SCENARIOS["factors"] = lambda: [hooks.DefaultState._get_gradient_predivide_factor(n) for n in (1, 2, 3, 6, 8, 64, 100)]
found = {name: said(action) for name, action in SCENARIOS.items()}
# Copies that torch leaves alone, compared with those of every parameter by a formula in the test.
found["columns"] = trained(device_mesh=mesh(size, 1), sharding_strategy=strategies.HYBRID_SHARD)
if library == "mindtorch":  # torch has no such sums on the host
    state = hooks.LowPrecisionState(dist.group.WORLD)
    found["half"] = [hooked(chosen, state, hooks.bf16_compress_hook) for chosen in list(strategies)[:3]]
found["whole copies"] = trained(sharding_strategy=strategies.NO_SHARD)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(found, stream)
dist.destroy_process_group()
