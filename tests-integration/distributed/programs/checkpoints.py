"""Save or load a spread model. Arguments: library, file, what, folder; the file gets sums and texts of rank 0."""

import importlib
import json
import sys
import warnings

library, target, what, folder = sys.argv[1:5]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fsdp = importlib.import_module(f"{library}.distributed.fsdp")
dcp = importlib.import_module(f"{library}.distributed.checkpoint")
states = importlib.import_module(f"{library}.distributed.checkpoint.state_dict")
nn = torch.nn
warnings.simplefilter("ignore")


class Count:
    """Something with a state."""

    def __init__(self, n):
        self.n = n

    def state_dict(self):
        return {"n": self.n, "list": [1, torch.full((2,), float(self.n))]}

    def load_state_dict(self, state):
        self.n = state["n"] + int(state["list"][1][0])


def model_and_optimizer(seed):
    """Return a model with odd sizes and its optimizer."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 3))
    fsdp.fully_shard(model[0])
    fsdp.fully_shard(model)
    return model, torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)


def step(model, optimizer):
    """Train a step."""
    loss = model(torch.linspace(-1, 1, 10).view(2, 5)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def described(value):
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): described(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(inner) for inner in value]
    if isinstance(value, torch.Tensor):
        whole = value.full_tensor() if hasattr(value, "full_tensor") else value
        return [list(value.shape), whole.double().flatten().tolist()]
    return value


def save():
    """Train, save in all ways, and return what was saved."""
    model, optimizer = model_and_optimizer(0)
    step(model, optimizer)
    own, optims = states.get_state_dict(model, optimizer)
    everything = {"model": own, "optim": optims, "count": Count(3), "note": {"a": "text", "b": [1, 2]}}
    dcp.save(everything, checkpoint_id=f"{folder}/all")
    future = dcp.async_save({"model": own}, checkpoint_id=f"{folder}/later")
    future.result()
    dcp.save(own, storage_writer=dcp.HuggingFaceStorageWriter(f"{folder}/hf", save_distributed=True))
    whole = states.get_model_state_dict(model, options=states.StateDictOptions(full_state_dict=True))
    if dist.get_rank() == 0:
        dcp.save(whole, storage_writer=dcp.HuggingFaceStorageWriter(f"{folder}/hf-whole"), no_dist=True)
    dist.barrier()
    flat_too = states.StateDictOptions(flatten_optimizer_state_dict=True)
    flat = states.get_optimizer_state_dict(model, optimizer, options=flat_too)
    result = {"model": described(own), "optim": described(optims), "flat": described(flat)}
    return {**result, "next": step(model, optimizer)}


def load():
    """Load in all ways into another model, and return what was loaded."""
    model, optimizer = model_and_optimizer(1)
    own, optims = states.get_state_dict(model, optimizer)
    count = Count(0)
    everything = {"model": own, "optim": optims, "count": count, "note": {"a": "", "b": [0, 0]}}
    dcp.load(everything, checkpoint_id=f"{folder}/all")
    states.set_state_dict(model, optimizer, model_state_dict=everything["model"], optim_state_dict=everything["optim"])
    result = {"model": described(states.get_model_state_dict(model)), "count": count.n, "note": everything["note"]}
    result["optim"] = described(states.get_optimizer_state_dict(model, optimizer))
    flat = states.StateDictOptions(flatten_optimizer_state_dict=True)
    result["flat"] = described(states.get_optimizer_state_dict(model, optimizer, options=flat))
    result["next"] = step(model, optimizer)
    for name in ("hf", "hf-whole"):
        other, _ = model_and_optimizer(2)
        state = states.get_model_state_dict(other)
        dcp.load(state, storage_reader=dcp.HuggingFaceStorageReader(f"{folder}/{name}"))
        result[name] = described(state)
    full = states.StateDictOptions(full_state_dict=True, cpu_offload=True)
    whole = states.get_model_state_dict(model, options=full)
    result["rank 0 alone"] = dist.get_rank() == 0 or not whole
    other, _ = model_and_optimizer(2)
    everywhere = states.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    states.set_model_state_dict(other, whole, options=everywhere)
    result["broadcast"] = described(other.state_dict())
    result["after"] = described(model.state_dict())
    texts = []
    wrong = {"model": {"0.weight": torch.ones(2)}}
    for state, place in (({"nothing": torch.ones(2)}, "all"), (wrong, "all"), ({}, "none")):
        try:
            dcp.load(state, checkpoint_id=f"{folder}/{place}")
        except dcp.api.CheckpointException as error:
            found = error.failures[0][0]
            texts.append([type(found).__name__, str(found).replace(folder, "")[:60]])
    result["texts"] = texts + parts(other, optimizer)
    return result


def parts(model, optimizer):
    """What is said of whole states that lack something, or have too much."""
    name, value = next(iter(model.state_dict().items()))
    said = []
    for given in ({name: torch.ones(value.shape)}, {name: torch.ones(value.shape), "nothing": torch.ones(1)}, {}):
        for more in ({}, {"strict": False}, {"broadcast_from_rank0": True}):
            options = states.StateDictOptions(full_state_dict=True, **more)
            try:
                said.append(repr(states.set_model_state_dict(model, dict(given), options=options)))
            except RuntimeError as error:
                said.append(str(error))
    try:
        states.set_optimizer_state_dict(model, optimizer, {})
    except RuntimeError as error:
        said.append(str(error))
    return said


dist.init_process_group("gloo")
results = save() if what == "save" else load()
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
