"""Train a small BERT on simulated NPUs by `hccl`, one a rank; rank 0 writes the losses and what the devices say of races.

Arguments: library, file, steps, and the whole batch. One rank computes the whole batch, several share it.
"""

import json
import sys

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch import nn
from mindtorch.nn.parallel import DistributedDataParallel
from mindtorch_npu import simulator

target, steps, batch = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
WORDS, WIDTH, TOKENS = 50, 16, 8


class Encoder(nn.Module):
    """Two layers of a BERT and its head."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 2, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True)
            for _ in range(2)
        )
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        hidden = self.words(tokens) + self.places(torch.arange(TOKENS, device=tokens.device))
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


def main():
    """Train, and let rank 0 write."""
    dist.init_process_group(sys.argv[5] if len(sys.argv) > 5 else "hccl")
    rank, size = dist.get_rank(), dist.get_world_size()
    device = torch.device("npu", rank)
    torch.npu.set_device(device)
    torch.manual_seed(0)
    model = DistributedDataParallel(Encoder().to(device), device_ids=[rank], bucket_cap_mb=0.005)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(steps):
        tokens = torch.randint(0, WORDS, (batch, TOKENS), generator=generator).chunk(size)[rank].to(device)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        shown = loss.detach()
        dist.all_reduce(shown, op=dist.ReduceOp.AVG)
        losses.append(shown.item())
    races: list = [None] * size
    dist.all_gather_object(races, simulator.machine().races.found)
    if rank == 0:
        launches = simulator.collectives().launches["HcclAllReduce"]
        with open(target, "w") as file:
            json.dump({"losses": losses, "races": races, "reductions": launches, "backend": dist.get_backend()}, file)
    dist.destroy_process_group()


main()
