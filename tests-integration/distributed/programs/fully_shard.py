"""Train a small encoder with spread parameters in many ways; rank 0 writes the losses. Arguments: library, file, steps."""

import importlib
import json
import sys

library, target, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fsdp = importlib.import_module(f"{library}.distributed.fsdp")
DTensor = importlib.import_module(f"{library}.distributed.tensor").DTensor
Shard = importlib.import_module(f"{library}.distributed.tensor").Shard
init_device_mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
checkpoint = importlib.import_module(f"{library}.utils.checkpoint").checkpoint
nn = torch.nn


class Encoder(nn.Module):
    """Two layers of a BERT whose head is tied to its embedding when asked."""

    def __init__(self, tied=False, checkpointed=False):
        super().__init__()
        self.words, self.places = nn.Embedding(65, 32), nn.Embedding(16, 32)
        layers = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu", batch_first=True) for _ in "ab"]
        self.layers = nn.ModuleList(layers)
        self.head, self.checkpointed = nn.Linear(32, 65), checkpointed
        if tied:
            self.head.weight = self.words.weight

    def forward(self, tokens):
        hidden = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            hidden = checkpoint(layer, hidden, use_reentrant=False) if self.checkpointed else layer(hidden)
        return {"logits": self.head(hidden)}

    def embed(self, tokens):
        return self.words(tokens)


def shard(model, **arguments):
    """Shard layers and model."""
    for layer in model.layers:
        fsdp.fully_shard(layer, **arguments)
    return fsdp.fully_shard(model, **arguments)


def train(prepare=None, accumulate=False, clip=None, tied=False, checkpointed=False, **arguments):
    """Return the losses of all steps, norms, and sums of the parameters."""
    torch.manual_seed(0)
    model = shard(Encoder(tied, checkpointed), **arguments)
    if prepare is not None:
        prepare(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses, norms = [], []
    for _ in range(steps):
        tokens = torch.randint(0, 64, (4, 16), generator=generator)
        if accumulate:
            model.set_requires_gradient_sync(False)
            nn.functional.cross_entropy(model(tokens)["logits"].flatten(0, 1).float(), tokens.flatten()).backward()
            model.set_requires_gradient_sync(True)
        logits = model(tokens)["logits"]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
        loss.backward()
        dtypes = {
            str(v.dtype).rpartition(".")[2] for v in (logits, *(p.grad for p in model.parameters())) if v is not None
        }
        if clip is not None:
            norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
            norms.append(norm.full_tensor().item())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    state = model.state_dict()
    kinds = sorted({f"{type(v).__name__} {v.placements}" for v in state.values()})
    sums = [value.full_tensor().double().sum().item() for value in state.values()]
    return {"losses": losses, "norms": norms, "kinds": kinds, "keys": list(state), "sums": sums, "dtypes": sorted(dtypes),
            "shapes": [[list(v.shape), list(v.to_local().shape)] for v in state.values()],
            "class": [type(model).__name__, [c.__name__ for c in type(model).__mro__[:3]]]}  # fmt: skip


def prefetching(model):
    """Gather ahead by name."""
    model.set_modules_to_forward_prefetch([model.layers[0]])
    model.layers[0].set_modules_to_forward_prefetch([model.layers[1]])
    model.layers[1].set_modules_to_backward_prefetch([model.layers[0]])


def keeping(model):
    """Change when parameters are freed, and by what gradients are divided."""
    model.set_reshard_after_backward(False)
    model.set_reshard_after_forward(False)
    model.set_force_sum_reduction_for_comms(True)
    model.set_gradient_divide_factor(4.0)
    model.set_is_last_backward(True)


def from_meta():
    """Make a model without memory, shard it, fill it, and train a step."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(6, 7), nn.GELU(), nn.Linear(7, 3))
    fsdp.fully_shard(model[0])
    fsdp.fully_shard(model)
    told = []
    try:
        model(torch.ones(2, 6))
    except RuntimeError as error:
        told.append(str(error).splitlines()[0])
    model = nn.Sequential(nn.Linear(6, 7, device="meta"), nn.GELU(), nn.Linear(7, 3, device="meta"))
    fsdp.fully_shard(model[0])
    fsdp.fully_shard(model)
    model.to_empty(device="cpu")
    for index, param in enumerate(model.parameters()):
        nn.init.constant_(param, 0.1 * (index + 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(3):
        loss = model(torch.ones(2, 6)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return told, losses


def methods():
    """Return what parameters are at every stage, what another method sees, and what is refused."""
    torch.manual_seed(0)
    model = shard(Encoder())
    seen = [type(model.head.weight.data).__name__]
    fsdp.register_fsdp_forward_method(model, "embed")
    seen.append(model.embed(torch.arange(4)).detach().flatten().tolist())
    model.reshard()
    handle = model.unshard(async_op=True)
    handle.wait()
    seen.append([isinstance(model.head.weight, DTensor), isinstance(model.layers[0].linear1.weight, DTensor)])
    seen.append(list(model.head.weight.shape))
    model.reshard()
    seen.append(isinstance(model.head.weight, DTensor))
    state = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict({name: value * 2 for name, value in state.items()})
    seen.append(model.head.weight.full_tensor().sum().item())
    model.load_state_dict(state, assign=True)
    seen.append(model(torch.arange(8).view(2, 4))["logits"].sum().item())
    model = shard(Encoder())
    model.double()
    seen.append([str(p.dtype) for p in model.parameters()][:2])
    seen.append(model(torch.arange(8).view(2, 4))["logits"].sum().item())
    texts = []
    for action in (
        lambda: fsdp.fully_shard(nn.ModuleList([nn.Linear(2, 2)])),
        lambda: fsdp.fully_shard(nn.ParameterList([nn.Parameter(torch.tensor(1.0))])),
        lambda: fsdp.fully_shard(nn.Linear(2, 2), reshard_after_forward=3),
        lambda: fsdp.fully_shard(nn.Linear(2, 2), reshard_after_forward="no"),
        lambda: fsdp.fully_shard(
            nn.Linear(2, 3, bias=False), shard_placement_fn=lambda p: Shard(0 - 0) if p.ndim < 2 else Shard(2)
        ),
        lambda: fsdp.fully_shard(nn.Linear(3, 2, bias=False), shard_placement_fn=lambda p: Shard(1)),
        lambda: model.set_modules_to_forward_prefetch([nn.Linear(2, 2)]),
        lambda: fsdp.register_fsdp_forward_method(model, "nothing"),
        lambda: model.set_reshard_after_forward(1),
        lambda: __import__("copy").deepcopy(model),
        lambda: fsdp.share_comm_ctx([nn.Linear(2, 2)]),
    ):
        try:
            action()
            texts.append("")
        except (ValueError, NotImplementedError, AssertionError) as error:
            texts.append([type(error).__name__, str(error)])
    return seen, texts


def of_mesh():
    """Train on a mesh of copies and parts."""
    mesh = init_device_mesh("cpu", (2, dist.get_world_size() // 2), mesh_dim_names=("replicate", "shard"))
    return train(mesh=mesh)


dist.init_process_group("gloo")
half = fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
results = {
    "plain": train(),
    "accumulated": train(accumulate=True),
    "clipped": train(clip=0.5),
    "tied": train(tied=True),
    "checkpointed": train(checkpointed=True),
    "prefetching": train(prepare=prefetching),
    "keeping": train(prepare=keeping),
    "never freed": train(reshard_after_forward=False),
    "half": train(mp_policy=half, accumulate=True),
    "offloaded": train(offload_policy=fsdp.CPUOffloadPolicy(pin_memory=False)),
    "columns": train(shard_placement_fn=lambda p: Shard(1) if p.ndim == 2 else None),
    "copies": of_mesh(),
    "meta": from_meta(),
    "methods": methods(),
}
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
