"""An accelerate loop on two ranks, started by `accelerate launch`: shards of the data, gradients averaged, metrics gathered."""

import json

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from launching.two_ranks import run

LAUNCHER = ("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1",
            "--mixed_precision", "no", "--dynamo_backend", "no")  # fmt: skip


def main():
    set_seed(3)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    inputs = torch.randn(50, 6)
    data = torch.utils.data.TensorDataset(inputs, inputs[:, :3].argmax(1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses, seen = [], 0
    for _ in range(3):
        for features, labels in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(features), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            losses += accelerator.gather(loss.detach()).tolist()
            seen += len(accelerator.gather_for_metrics(labels))
    total = accelerator.reduce(torch.tensor(float(accelerator.process_index + 1)), "sum").item()
    if accelerator.is_main_process:
        print(
            json.dumps({"losses": losses, "seen": seen, "ranks": accelerator.num_processes, "sum": total}), flush=True
        )
    accelerator.end_training()


if __name__ == "__main__":
    run(__file__, main, LAUNCHER)
