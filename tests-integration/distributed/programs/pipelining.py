"""Train a model whose layers are spread over the ranks; rank 0 writes what all saw. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
pipelining = importlib.import_module(f"{library}.distributed.pipelining")
microbatch = importlib.import_module(f"{library}.distributed.pipelining.microbatch")
nn = torch.nn
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


class Layer(nn.Module):
    """A layer that hands on one tensor, or two of which one wants no gradient, and takes a scale."""

    def __init__(self, two):
        super().__init__()
        self.two, self.linear = two, nn.Linear(4, 4)

    def forward(self, x, count=None, scale=1.0):
        x = torch.tanh(self.linear(x)) * scale
        if not self.two:
            return x
        return x, torch.full((x.shape[0],), 1) if count is None else count + 1


def loss_fn(output, expected, weight=1.0):
    """Return a mean; the count of layers is part of it."""
    value, counts = output if isinstance(output, (tuple, list)) else (output, None)
    return weight * (value - expected).pow(2).mean() * (1 if counts is None else counts.double().mean())


def train(schedule, parts=4, two=False, steps=3, **arguments):
    """Return losses, outputs' sums and gradients of this rank after some steps."""
    torch.manual_seed(0)
    layers = [Layer(two) for _ in range(size)]
    stage = pipelining.PipelineStage(layers[rank], rank, size, torch.device("cpu"))
    run = schedule(stage, parts, loss_fn=loss_fn, **arguments)
    optimizer = torch.optim.SGD(layers[rank].parameters(), lr=0.5)
    generator = torch.Generator().manual_seed(1)
    seen = []
    for _ in range(steps):
        x, expected = torch.rand(12, 4, generator=generator), torch.rand(12, 4, generator=generator)
        losses = []
        given = (x,) if rank == 0 else ()
        told = {"target": expected, "losses": losses} if rank == size - 1 else {}
        output = run.step(*given, **told)
        grads = [p.grad.flatten().tolist() for p in layers[rank].parameters()]
        optimizer.step()
        optimizer.zero_grad()
        shown = None if output is None else [v.double().sum().item() for v in (output if two else [output])]
        seen.append([[loss.item() for loss in losses], shown, grads])
    with torch.no_grad():
        losses = []
        told = {"target": expected, "losses": losses} if rank == size - 1 else {}
        output = run.eval(*given, **told)
        seen.append([None if output is None else len(output), len(losses)])
    return seen


def said(action):
    """Return what an action raises."""
    try:
        action()
    except (RuntimeError, ValueError, TypeError, AssertionError) as error:
        return [type(error).__name__, str(error)]
    return []


def texts():
    """Return what is refused, and parts of batches."""
    device = torch.device("cpu")
    stage = pipelining.PipelineStage(nn.Linear(2, 2), rank, size, device)
    run = pipelining.ScheduleGPipe(stage, 2, loss_fn=loss_fn)
    spec = microbatch.TensorChunkSpec
    parts = microbatch.split_args_kwargs_into_chunks(
        (torch.arange(6).view(2, 3), 7), {"a": torch.arange(4)}, 2, None, spec.from_dict({"a": 0})
    )
    merged = microbatch.merge_chunks([{"a": torch.ones(1, 2), "b": 3}] * 2, {"a": spec(1), "b": None})
    with torch.no_grad():
        no_grad = said(lambda: run.step(torch.ones(2, 2)))
    return [
        said(lambda: pipelining.PipelineStage(nn.Linear(2, 2), size, size, device)),
        said(lambda: pipelining.PipelineStage(nn.Linear(2, 2), 0, 1, device)),
        said(lambda: pipelining.Schedule1F1B(stage, 1, loss_fn=loss_fn)),
        said(lambda: pipelining.Schedule1F1B(stage, 4, nothing=3)),
        no_grad,
        len(microbatch.split_args_kwargs_into_chunks((torch.ones(1),), None, 2)[0]),
        said(lambda: run.step(torch.ones(1, 2), target=None)),
        said(lambda: run.step(torch.ones(2, 2), losses=3)),
        [
            [[a[0].tolist(), a[1], k["a"].tolist()] for a, k in zip(*parts, strict=True)],
            merged["a"].tolist(),
            merged["b"],
        ],
        [str(spec(1)), repr(spec(1))],
    ]


results = {
    "gpipe": train(pipelining.ScheduleGPipe),
    "1f1b": train(pipelining.Schedule1F1B),
    "as many as stages": train(pipelining.Schedule1F1B, parts=size),
    "sums": train(pipelining.Schedule1F1B, scale_grads=False),
    "two": train(pipelining.Schedule1F1B, two=True),
    "texts": texts(),
}
everybody = [None] * size
dist.all_gather_object(everybody, results)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(everybody, stream)
dist.destroy_process_group()
