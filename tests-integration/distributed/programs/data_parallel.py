"""Train a small encoder on several ranks in many ways; rank 0 writes the losses. Arguments: library, file, steps."""

import gc
import importlib
import json
import sys

library, target, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
DistributedDataParallel = importlib.import_module(f"{library}.nn.parallel").DistributedDataParallel
hooks = importlib.import_module(f"{library}.distributed.algorithms.ddp_comm_hooks")
power = importlib.import_module(f"{library}.distributed.algorithms.ddp_comm_hooks.powerSGD_hook")
nn = torch.nn


class Encoder(nn.Module):
    """Two layers of a BERT, and a layer that is not used."""

    def __init__(self, unused):
        super().__init__()
        self.words, self.places = nn.Embedding(64, 32), nn.Embedding(16, 32)
        layers = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu", batch_first=True) for _ in "ab"]
        self.layers = nn.ModuleList(layers)
        self.head = nn.Linear(32, 64)
        if unused:
            self.unused = nn.Linear(3, 3)

    def forward(self, tokens):
        hidden = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            hidden = layer(hidden)
        return {"logits": self.head(hidden)}


def train(hook=None, unused=False, accumulate=False, **arguments):
    """Return the losses of all steps with the weights that are not used, and the sizes of the buckets."""
    torch.manual_seed(0)
    model = DistributedDataParallel(Encoder(unused), **arguments)
    if hook is not None:
        hook(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses = []
    for step in range(steps):
        tokens = torch.randint(0, 64, (4, 16), generator=generator)
        if accumulate and step % 2:
            with model.no_sync():
                nn.functional.cross_entropy(model(tokens)["logits"].flatten(0, 1), tokens.flatten()).backward()
        loss = nn.functional.cross_entropy(model(tokens)["logits"].flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    if unused:  # it has no gradient, so its weights do not decay
        losses += model.module.unused.weight.flatten().tolist()
    known = model._get_ddp_logging_data()
    return losses, [known["bucket_sizes"], known.get("rebuilt_bucket_sizes") or known["bucket_sizes"]]


def uneven(divide):
    """Return the weights after ranks with different numbers of inputs."""
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with model.join(divide_by_initial_world_size=divide):
        for step in range(2 + 2 * dist.get_rank()):
            model(torch.full((2, 3), float(step))).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return model.module.weight.flatten().tolist(), ""


dist.init_process_group("gloo")
rank_of_approximation = power.PowerSGDState(None, 2, start_powerSGD_iter=2)
results = {
    "plain": train(),
    "small buckets": train(bucket_cap_mb=0.02, gradient_as_bucket_view=True, accumulate=True),
    "batched": train(bucket_cap_mb=0.02, batched_grad_copy=True, gradient_as_bucket_view=True),
    "unused": train(unused=True, find_unused_parameters=True),
    "static": train(unused=True, static_graph=True),
    "half": train(hook=lambda model: model.register_comm_hook(None, hooks.default_hooks.fp16_compress_hook)),
    "low rank": train(hook=lambda model: model.register_comm_hook(rank_of_approximation, power.powerSGD_hook)),
    "uneven": uneven(True),
    "uneven, divided by those left": uneven(False),
}
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
gc.collect()  # a trained model stands in cycles and holds its group: threads of one that outlives this line run to the end
dist.destroy_process_group()
