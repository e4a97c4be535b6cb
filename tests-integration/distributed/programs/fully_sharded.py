"""FSDP1's class in many ways; rank 0 writes losses and states. Arguments: library, file."""

import functools
import importlib
import json
import sys
import warnings

library, target = sys.argv[1], sys.argv[2]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fsdp = importlib.import_module(f"{library}.distributed.fsdp")
wrap = importlib.import_module(f"{library}.distributed.fsdp.wrap")
init_device_mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
nn = torch.nn
FSDP = fsdp.FullyShardedDataParallel
warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


class Model(nn.Module):
    """Two layers of a BERT between an embedding and a head."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(65, 16)
        layers = [nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu", batch_first=True) for _ in "ab"]
        self.layers, self.head = nn.ModuleList(layers), nn.Linear(16, 65)

    def forward(self, tokens):
        hidden = self.words(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


def sharded(policy=None, **arguments):
    """Return a model, wrapped."""
    torch.manual_seed(0)
    return FSDP(Model(), auto_wrap_policy=policy, use_orig_params=True, device_id=torch.device("cpu"), **arguments)


def step(model, optimizer, generator, clip=None):
    """Train a step; return loss and norm."""
    tokens = torch.randint(0, 64, (4, 8), generator=generator)
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1).float(), tokens.flatten())
    loss.backward()
    norm = model.clip_grad_norm_(clip).item() if clip is not None else 0.0
    optimizer.step()
    optimizer.zero_grad()
    return loss.item(), norm


def train(clip=None, **arguments):
    """Return losses, names and what is wrapped."""
    model = sharded(**arguments)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(rank)
    with model.no_sync():
        tokens = torch.randint(0, 64, (4, 8), generator=generator)
        nn.functional.cross_entropy(model(tokens).flatten(0, 1).float(), tokens.flatten()).backward()
    losses = [step(model, optimizer, generator, clip) for _ in range(2)]
    wrapped = [type(part).__name__ for part in FSDP.fsdp_modules(model)]
    return (
        losses,
        wrapped,
        [name for name, _ in model.named_parameters()],
        len(FSDP.fsdp_modules(model, root_only=True)),
    )


def described(state):
    """Return names, shapes and sums."""
    return {key: [list(v.shape), round(v.double().sum().item(), 5)] for key, v in state.items()}


def states():
    """Save whole and sharded states, load them elsewhere, and look at whole parameters."""
    model = sharded(wrap.ModuleWrapPolicy({nn.TransformerEncoderLayer}))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(rank)
    step(model, optimizer, generator)
    whole = model.state_dict()
    result = {"whole": described(whole)}
    with FSDP.state_dict_type(model, fsdp.StateDictType.FULL_STATE_DICT, fsdp.FullStateDictConfig(rank0_only=True)):
        result["others"] = bool(model.state_dict()) == (rank == 0)
    optim_state = FSDP.optim_state_dict(model, optimizer)
    result["optim"] = {name: described(values) for name, values in sorted(optim_state["state"].items())}
    result["groups"] = [sorted(group["params"]) for group in optim_state["param_groups"]]
    other = sharded(wrap.ModuleWrapPolicy({nn.TransformerEncoderLayer}))
    other.load_state_dict(whole)
    another = torch.optim.AdamW(other.parameters(), lr=0.01)
    another.load_state_dict(FSDP.optim_state_dict_to_load(other, another, optim_state))
    pairs = ((model, optimizer), (other, another))
    generators = [torch.Generator().manual_seed(5) for _ in pairs]
    result["pair"] = [[step(*pair, g)[0] for _ in "ab"] for pair, g in zip(pairs, generators, strict=True)]
    with FSDP.summon_full_params(model):
        result["summoned"] = [[name, list(param.shape)] for name, param in model.named_parameters()]
        with torch.no_grad():
            model.head.bias.fill_(2.0)
    result["written"] = model.state_dict()["head.bias"].sum().item()
    result["type"] = str(FSDP.get_state_dict_type(model).state_dict_type)
    keyed = FSDP.rekey_optim_state_dict(optim_state, fsdp.OptimStateKeyType.PARAM_ID, model, optim=optimizer)
    result["keys"] = sorted(keyed["state"])
    return result


def refused(action):
    """Return type and first line of what an action raises."""
    try:
        action()
    except (AssertionError, NotImplementedError, ValueError) as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return []


def wrapped_again():
    """Train, wrap units once more and run them; return the sum of outputs, and what a root or a policy raises."""
    model = sharded(by_class)
    generator = torch.Generator().manual_seed(rank)
    step(model, torch.optim.SGD(model.parameters(), lr=0.1), generator)
    host = {"use_orig_params": True, "device_id": torch.device("cpu")}
    hidden = torch.randn(2, 8, 16, generator=generator)
    total = FSDP(nn.Sequential(*model.layers), **host)(hidden).double().square().sum().item()
    root = refused(lambda: FSDP(nn.Sequential(model), **host)(torch.zeros(1, 8, dtype=torch.long)))
    return total, root, refused(lambda: FSDP(nn.Sequential(model), auto_wrap_policy=by_class, **host))


class Counted(nn.Module):
    """A linear layer beside a buffer."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 5)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, 5))

    def forward(self, x):
        return (self.linear(x) * self.scale).float()


def kept():
    """Return buffers in states, whole gradients, and what a state that was loaded is after more steps."""
    torch.manual_seed(0)
    precision = fsdp.MixedPrecision(buffer_dtype=torch.float64)
    host = {"use_orig_params": True, "device_id": torch.device("cpu"), "mixed_precision": precision}
    model = FSDP(nn.Sequential(FSDP(Counted(), **host), nn.Linear(5, 3)), **host)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    x = torch.full((2, 3), rank + 1.0)
    result = {}
    for _ in range(2):
        optimizer.zero_grad()
        model(x).pow(2).sum().backward()
        optimizer.step()
    result["buffers"] = [str(buffer.dtype) for buffer in model.buffers()]
    result["state"] = {name: str(value.dtype) for name, value in model.state_dict().items()}
    with FSDP.summon_full_params(model, with_grads=True):
        result["grads"] = {name: param.grad.tolist() for name, param in model.named_parameters()}
        for param in model.parameters():
            param.grad.mul_(2)
    with FSDP.summon_full_params(model, with_grads=True):
        result["doubled"] = {name: param.grad.tolist() for name, param in model.named_parameters()}
    result["refused"] = [
        refused(lambda: FSDP.summon_full_params(model, with_grads=True, offload_to_cpu=True).__enter__()),
        refused(lambda: FSDP.summon_full_params(model, rank0_only=True).__enter__()),
    ]
    whole = FSDP.full_optim_state_dict(model, optimizer, rank0_only=False)
    before = described_steps(whole)
    shards = [
        FSDP.optim_state_dict_to_load(model, optimizer, whole),
        FSDP.flatten_sharded_optim_state_dict(FSDP.sharded_optim_state_dict(model, optimizer), model, optimizer),
    ]
    result["steps"] = [stepped(model, shard) for shard in shards]
    result["given"] = described_steps(whole) == before
    shard = FSDP.shard_full_optim_state_dict(FSDP.full_optim_state_dict(model, optimizer, rank0_only=False), model)
    result["steps"].append(stepped(model, shard))
    sent = FSDP.full_optim_state_dict(model, optimizer)  # empty but on rank 0
    shard = FSDP.scatter_full_optim_state_dict(sent if rank == 0 else None, model, optim=optimizer)
    result["steps"].append(stepped(model, shard))
    return result


def stepped(model, state):
    """Return the rate and the steps of an optimizer that loads a state and takes a step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
    optimizer.load_state_dict(state)
    optimizer.step()
    return [optimizer.param_groups[0]["lr"], *sorted({values["step"].item() for values in optimizer.state.values()})]


def described_steps(state):
    """Return what an optimizer counted and averaged, by names."""
    return {
        name: [values["step"].item(), values["exp_avg"].tolist()] for name, values in sorted(state["state"].items())
    }


half = fsdp.MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
by_class = functools.partial(wrap.transformer_auto_wrap_policy, transformer_layer_cls={nn.TransformerEncoderLayer})
by_size = functools.partial(wrap.size_based_auto_wrap_policy, min_num_params=1500)
strategies = fsdp.ShardingStrategy
results = {
    "full": train(clip=0.5),
    "classes": train(policy=by_class),
    "sizes": train(policy=by_size),
    "own": train(policy=wrap.CustomPolicy(lambda module: isinstance(module, nn.Embedding))),
    "grads": train(policy=by_class, sharding_strategy=strategies.SHARD_GRAD_OP),
    "not": train(sharding_strategy=strategies.NO_SHARD),
    "half": train(policy=by_class, mixed_precision=half),
    "states": states(),
    "again": wrapped_again(),
    "kept": kept(),
}
if rank == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
