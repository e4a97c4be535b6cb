"""Every optimizer that torch runs on spread parameters takes two steps. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fully_shard = importlib.import_module(f"{library}.distributed.fsdp").fully_shard
nn = torch.nn

WAYS = {
    **{name: (name, {}) for name in "SGD Adagrad Adadelta Adamax NAdam RAdam ASGD Adam".split()},
    "largest": ("AdamW", {"amsgrad": True}),
    "largest, one by one": ("AdamW", {"amsgrad": True, "foreach": False}),
    "one by one": ("Adamax", {"foreach": False}),
    "centered": ("RMSprop", {"centered": True, "momentum": 0.5}),
}


def stepped(name, options):
    """Return the parameters after two steps."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    fully_shard(model)
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01, **options)
    for step in range(2):
        generator = torch.Generator().manual_seed(10 * step + dist.get_rank())
        model(torch.randn(4, 5, generator=generator)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.reshard()
    return [value for one in model.state_dict().values() for value in one.full_tensor().flatten().tolist()]


dist.init_process_group("gloo")
results = {way: stepped(*given) for way, given in WAYS.items()}
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
