"""Optimizers whose states are spread, and batch norm over processes. Arguments: library, file."""

import importlib
import io
import json
import sys

library, target = sys.argv[1], sys.argv[2]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
optim = importlib.import_module(f"{library}.distributed.optim")
averagers = importlib.import_module(f"{library}.distributed.algorithms.model_averaging.averagers")
DistributedDataParallel = importlib.import_module(f"{library}.nn.parallel").DistributedDataParallel
nn = torch.nn
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


def text_of(action):
    """Return what an action raises."""
    try:
        action()
    except (RuntimeError, TypeError, ValueError) as error:
        return [type(error).__name__, str(error)]
    return ""


def train(**arguments):
    """Train with spread states; return losses, states and texts."""
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 3)))
    params = list(model.parameters())
    groups = [{"params": params[:2], "lr": 0.02}, {"params": params[2:]}]
    optimizer = optim.ZeroRedundancyOptimizer(groups, torch.optim.AdamW, lr=0.01, **arguments)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    losses = []
    for step in range(4):
        loss = model(torch.linspace(-1, 1 + rank + step, 10).view(2, 5)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
        if step == 1:
            told = text_of(optimizer.state_dict) if rank else []
            optimizer.consolidate_state_dict()
            box = [_saved(optimizer.state_dict()) if rank == 0 else None]
            dist.broadcast_object_list(box)
            state = torch.load(io.BytesIO(box[0]), weights_only=False)
            moments = [state["state"][i]["exp_avg"].flatten().tolist() for i in state["state"]]
            optimizer.load_state_dict(state)
    own = len(optimizer.optim.state)
    return {"losses": losses, "moments": moments, "own": own, "told": told, "keys": sorted(state["param_groups"][0]),
            "weights": [p.detach().flatten().tolist() for p in params]}  # fmt: skip


def extended():
    """Return the rates of groups, one of them added, and their weights after a step."""
    torch.manual_seed(0)
    model, more = nn.Linear(3, 2), nn.Linear(2, 4)
    optimizer = optim.ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    optimizer.add_param_group({"params": list(more.parameters()), "lr": 0.3})
    for param in [*model.parameters(), *more.parameters()]:
        param.grad = torch.ones_like(param)
    optimizer.step()
    weights = [param.flatten().tolist() for param in [*model.parameters(), *more.parameters()]]
    return [[group["lr"] for group in optimizer.param_groups], weights]


def _saved(state):
    stream = io.BytesIO()
    torch.save(state, stream)
    return stream.getvalue()


def averaged():
    """Train apart and average every second step."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    averager = averagers.PeriodicModelAverager(period=2, warmup_steps=1)
    optimizer = optim.PostLocalSGDOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), averager)
    for step in range(4):
        model(torch.full((2, 3), 1.0 + rank + step)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.weight.flatten().tolist(), optimizer.state_dict()["step"]


def normalized():
    """Return output, gradients and statistics of a batch that is spread; of the whole batch in one process for torch."""
    torch.manual_seed(0)
    whole, weights = torch.randn(6, 3, 4) * 3 + 1, torch.randn(6, 3, 4)
    layer = nn.BatchNorm1d(3)
    nn.init.uniform_(layer.weight)
    cut = slice(None) if library == "torch" else slice(0, 4) if rank == 0 else slice(4, 6)
    layer = layer if library == "torch" else nn.SyncBatchNorm.convert_sync_batchnorm(layer)
    x = whole[cut].clone().requires_grad_()
    out = layer(x)
    (out * weights[cut]).sum().backward()
    parts = [out.detach(), x.grad]
    if library != "torch":
        lists = [[torch.empty(4, 3, 4), torch.empty(2, 3, 4)] for _ in parts]
        for part, received in zip(parts, lists, strict=True):
            if rank == 0:
                received[0].copy_(part)
                dist.recv(received[1], 1)
            else:
                dist.send(part, 0)
        parts = [torch.cat(received) for received in lists]
        for grad in (layer.weight.grad, layer.bias.grad):
            dist.all_reduce(grad)
    numbers = [*parts, layer.weight.grad, layer.bias.grad, layer.running_mean, layer.running_var]
    return [number.flatten().tolist() for number in numbers]


zero = optim.ZeroRedundancyOptimizer
results = {
    "each": train(),
    "views": train(parameters_as_bucket_view=True),
    "extended": extended(),
    "averaged": averaged(),
    "normalized": normalized(),
    "texts": [text_of(lambda given=given: zero(given, torch.optim.SGD, lr=0.1)) for given in (
        torch.ones(2), 3, [], [1, torch.ones(2)], [{"lr": 1}],
        [torch.ones(1), torch.ones(1, dtype=torch.double)])],
}  # fmt: skip
collected = [None] * size
dist.all_gather_object(collected, results["each"])
results["told"] = collected[1]["told"]
results["own"] = [one["own"] for one in collected]
if rank == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
