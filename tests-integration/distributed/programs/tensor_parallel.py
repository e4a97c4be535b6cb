"""A small decoder whose layers are spread over ranks; rank 0 writes logits and losses. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1], sys.argv[2]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
tensor = importlib.import_module(f"{library}.distributed.tensor")
tp = importlib.import_module(f"{library}.distributed.tensor.parallel")
init_device_mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
nn, functional = torch.nn, torch.nn.functional
Shard, Replicate = tensor.Shard, tensor.Replicate


class Attention(nn.Module):
    """Causal attention of four heads."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in "qkvo")

    def forward(self, x):
        heads = [part(x).view(*x.shape[:2], -1, 4).transpose(1, 2) for part in (self.q, self.k, self.v)]
        result = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.o(result.transpose(1, 2).reshape(*x.shape[:2], -1))


class Block(nn.Module):
    """Llama's layer, with layer norms."""

    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.a = nn.LayerNorm(16), nn.LayerNorm(16), Attention()
        self.w1, self.w3, self.w2 = (nn.Linear(*sizes, bias=False) for sizes in ((16, 64), (16, 64), (64, 16)))

    def forward(self, x):
        x = x + self.a(self.n1(x))
        hidden = self.n2(x)
        return x + self.w2(functional.silu(self.w1(hidden)) * self.w3(hidden))


class Decoder(nn.Module):
    """Two layers between an embedding and a head."""

    def __init__(self):
        super().__init__()
        self.e, self.b = nn.Embedding(32, 16), nn.ModuleList([Block(), Block()])
        self.n, self.out = nn.LayerNorm(16), nn.Linear(16, 32, bias=False)

    def forward(self, tokens):
        hidden = self.e(tokens)
        for block in self.b:
            hidden = block(hidden)
        return self.out(self.n(hidden))


def by_layers():
    """Return a plan that spreads attention and feed-forward."""
    plan = {"e": tp.RowwiseParallel(input_layouts=Replicate()), "out": tp.ColwiseParallel(output_layouts=Replicate())}
    for i in range(2):
        plan |= {f"b.{i}.{name}": tp.ColwiseParallel() for name in ("a.q", "a.k", "a.v", "w1", "w3")}
        plan |= {f"b.{i}.{name}": tp.RowwiseParallel() for name in ("a.o", "w2")}
    return plan


def by_sequence():
    """Return a plan that spreads norms too, over the sequence."""
    inputs = {"input_layouts": Shard(1)}
    plan = {
        "e": tp.RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "n": tp.SequenceParallel(),
        "out": tp.ColwiseParallel(**inputs, output_layouts=Replicate()),
    }
    for i in range(2):
        plan |= {f"b.{i}.{name}": tp.SequenceParallel() for name in ("n1", "n2")}
        plan |= {f"b.{i}.{name}": tp.ColwiseParallel(**inputs) for name in ("w1", "w3")}
        plan |= {f"b.{i}.a.{name}": tp.ColwiseParallel() for name in "qkv"}
        plan |= {f"b.{i}.{name}": tp.RowwiseParallel(output_layouts=Shard(1)) for name in ("a.o", "w2")}
        plan[f"b.{i}.a"] = tp.PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
    return plan


def train(plan):
    """Return logits and losses of three steps."""
    torch.manual_seed(0)
    model = Decoder()
    tokens = torch.randint(0, 32, (2, 6))
    if plan is not None:
        tp.parallelize_module(model, mesh, plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        logits = model(tokens)
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    placements = sorted({str(p.placements) for p in model.parameters() if isinstance(p, tensor.DTensor)})
    return logits.flatten().tolist(), losses, placements


mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
results = {"alone": train(None), "layers": train(by_layers()), "sequence": train(by_sequence())}
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
