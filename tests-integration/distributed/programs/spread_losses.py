"""Cross entropy of logits whose classes are spread over the ranks; rank 0 writes. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
spread = importlib.import_module(f"{library}.distributed.tensor")
parallel = importlib.import_module(f"{library}.distributed.tensor.parallel")
mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
nn = torch.nn
dist.init_process_group("gloo")
gathered, gathers = [], []
world = mesh("cpu", (dist.get_world_size(),))


def count_gathers():
    """Let our collectives be counted: spread tensors of torch gather without them."""
    for name in ("all_gather", "all_gather_single"):
        setattr(dist, name, counted(getattr(dist, name)))


def counted(original):
    """Return a function that notes its calls."""

    def function(*arguments, **keywords):
        gathered.append(original.__name__)
        return original(*arguments, **keywords)

    return function


def loss(shape=(6, 7), dim=1, weight=None, **arguments):
    """Return a loss, what it is, and the gradient."""
    torch.manual_seed(0)
    whole = torch.randn(*shape) * 3
    logits = spread.distribute_tensor(whole, world, [spread.Shard(dim)]).requires_grad_()
    classes = torch.randint(0, shape[dim], (*shape[:dim], *shape[dim + 1 :]))
    gathered.clear()
    with parallel.loss_parallel():
        value = nn.functional.cross_entropy(logits, classes, weight=weight, **arguments)
        (value.sum() if value.ndim else value).backward()
        gathers.extend(gathered)
    return [value.to_local().tolist(), [str(p) for p in value.placements], [str(p) for p in logits.grad.placements],
            logits.grad.full_tensor().tolist(), list(logits.grad.to_local().shape)]  # fmt: skip


def plain():
    """Return loss and gradient of images in one process: torch's gradient of spread ones is another."""
    torch.manual_seed(0)
    logits = (torch.randn(2, 7, 3, 2) * 3).requires_grad_()
    value = nn.functional.cross_entropy(logits, torch.randint(0, 7, (2, 3, 2)))
    value.backward()
    return [value.item(), logits.grad.tolist()]


def said(action):
    """Return what an action raises."""
    try:
        action()
    except (RuntimeError, ValueError) as error:
        return [type(error).__name__, str(error)]
    return []


def not_spread():
    """Take logits that every rank has."""
    logits = spread.distribute_tensor(torch.ones(4, 6), world, [spread.Replicate()])
    with parallel.loss_parallel():
        nn.functional.cross_entropy(logits, torch.zeros(4, dtype=torch.int64))


if library == "mindtorch":
    count_gathers()
weights = torch.linspace(0.5, 2.0, 7)
results = {
    "mean": loss(),
    "sum": loss(reduction="sum"),
    "none": loss(reduction="none"),
    "one": loss((7,), 0),
    "images": loss((2, 7, 3, 2)),
    "ignored": loss(ignore_index=2),
    "weights": loss(weight=weights),
    "weights, ignored, none": loss(weight=weights, ignore_index=2, reduction="none"),
    "not spread": said(not_spread),
    "gathers": gathers,
}
results["alone"] = plain()
assert library != "mindtorch" or gathered  # `full_tensor` was counted
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
