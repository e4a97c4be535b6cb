"""Train a model whose layers are spread over the ranks, two stages each; rank 0 writes. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
pipelining = importlib.import_module(f"{library}.distributed.pipelining")
schedules = importlib.import_module(f"{library}.distributed.pipelining.schedules")
nn = torch.nn
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
CPU = torch.device("cpu")
torch.set_default_dtype(torch.float64)  # normalised layers of few features magnify rounding


class Layer(nn.Module):
    """A normalised layer whose parameters are used twice."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)

    def forward(self, x):
        return x + torch.tanh(self.norm(self.linear(self.linear(x))))


def loss_fn(output, expected):
    """Return a mean."""
    return (output - expected).pow(2).mean()


def made(schedule, parts, folded=False, **arguments):
    """Return the stages of this rank, and their schedule."""
    torch.manual_seed(0)
    layers = [Layer() for _ in range(2 * size)]
    mine = [rank, 2 * size - 1 - rank] if folded else [rank, rank + size]
    stages = [pipelining.PipelineStage(layers[i], i, 2 * size, CPU) for i in mine]
    return stages, schedule(stages, parts, loss_fn=loss_fn, **arguments)


def train(name, parts=4, steps=2, folded=False, **arguments):
    """Return the order, losses, outputs' sums and gradients of this rank after some steps."""
    stages, run = made(schedules.get_schedule_class(name), parts, folded, **arguments)
    parameters = [parameter for stage in stages for parameter in stage.submod.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    generator = torch.Generator().manual_seed(1)
    first, last = (any(getattr(stage, which) for stage in stages) for which in ("is_first", "is_last"))
    seen = []
    for _ in range(steps):
        x, expected = torch.rand(12, 4, generator=generator), torch.rand(12, 4, generator=generator)
        losses = []
        output = run.step(*([x] if first else []), **({"target": expected, "losses": losses} if last else {}))
        grads = [parameter.grad.flatten().tolist() for parameter in parameters]
        optimizer.step()
        optimizer.zero_grad()
        in_graph = [one.requires_grad for one in (*losses, *([] if output is None else [output]))]
        seen.append([[loss.item() for loss in losses], None if output is None else output.tolist(), grads, in_graph])
    return [[str(action) for action in run.pipeline_order[rank]], seen]


class Model(nn.Module):
    """Layers that share an input and one that writes into what it is given, cut by name and by a call."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.layers = nn.ModuleDict({str(index): Layer() for index in range(4)})
        self.mixed = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
        self.norm = nn.BatchNorm1d(3)
        self.head = nn.Linear(4, 4)

    def forward(self, words, scale=None):
        x = self.words(words)
        if scale is not None and words.shape[1] == 3:
            x = x * scale
        for layer in self.layers.values():
            x = layer(x)
        pipelining.pipe_split()
        x = self.mixed(x).clone()
        x[:, 0].mul_(2)
        return self.head(self.norm(x))


POINTS = {"layers.1": pipelining.SplitPoint.BEGINNING, "layers.2": pipelining.SplitPoint.END}


def traced(schedule, parts=4):
    """Return what a recorded model is cut into, and how it trains."""
    torch.manual_seed(0)
    model = Model()
    words, scale = torch.arange(12 * 3).view(12, 3) % 7, torch.linspace(0.5, 1.5, 12).view(12, 1, 1)
    pipe = pipelining.pipeline(model, (words[: 12 // parts], scale[: 12 // parts]), split_spec=POINTS)
    stages = [pipe.build_stage(index, CPU) for index in range(rank, pipe.num_stages, size)]
    states = [sorted(pipe.get_stage_module(index).state_dict()) for index in range(pipe.num_stages)]
    names = [[name for name in state if "@" not in name] for state in states]  # torch names a second call's module so
    run = schedule(stages, parts, loss_fn=loss_fn)
    losses, expected = [], torch.ones(12, 3, 4)
    given = (words, scale) if rank == 0 else ()
    output = run.step(*given, **({"target": expected, "losses": losses} if rank == size - 1 else {}))
    grads = [[n, p.grad.flatten().tolist()] for stage in stages for n, p in sorted(stage.submod.named_parameters())]
    texts = [
        said(lambda: pipelining.pipeline(model, (words,), split_spec={"none.a": pipelining.SplitPoint.END})),
        said(lambda: pipelining.pipeline(model, (words,), split_spec={"layers.9": pipelining.SplitPoint.END})),
        said(lambda: pipelining.pipeline(model, (words,), split_spec={"head": 3})),
        said(lambda: pipelining.pipeline(model, (words,), split_spec=POINTS, split_policy=lambda graph: graph)),
    ]
    return [
        pipe.num_stages,
        names,
        None if output is None else output.tolist(),
        [one.item() for one in losses],
        grads,
        texts,
    ]


def said(action):
    """Return what an action raises."""
    try:
        action()
    except (RuntimeError, ValueError, AssertionError, AttributeError) as error:
        return [type(error).__name__, str(error)]
    return []


def refused():
    """Return what is refused."""
    one = pipelining.PipelineStage(nn.Linear(2, 2), rank, 2 * size, CPU)
    return [
        said(lambda: made(pipelining.ScheduleInterleaved1F1B, 5)),
        said(lambda: made(pipelining.ScheduleInterleavedZeroBubble, 5)),
        said(lambda: made(pipelining.ScheduleDualPipeV, 2, folded=True)),
        said(lambda: pipelining.ScheduleZBVZeroBubble([one], 4)),
        said(lambda: pipelining.ScheduleLoopedBFS([one], 4)),
        said(lambda: schedules.get_schedule_class("none")),
    ]


results = {
    "interleaved": train("interleaved1f1b"),
    "interleaved, sums": train("Interleaved1F1B", parts=6, scale_grads=False),
    "breadth first": train("LoopedBFS", parts=3),
    "zero bubble": train("InterleavedZeroBubble", parts=6),
    "folded": train("ZBVZeroBubble", folded=True),
    "folded, one part": train("ZBVZeroBubble", parts=1, folded=True),
    "both at once": train("DualPipeV", parts=6, folded=True),
    "traced": traced(pipelining.ScheduleInterleaved1F1B),
    "traced, breadth first": traced(pipelining.ScheduleLoopedBFS, parts=2),
    "refused": refused(),
}
everybody = [None] * size
dist.all_gather_object(everybody, results)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(everybody, stream)
dist.destroy_process_group()
