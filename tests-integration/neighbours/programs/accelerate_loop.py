"""An accelerate loop in one process: accumulation of gradients, clipping, a scheduler, saved and loaded state."""

import json
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed


def main():
    set_seed(3)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 3))
    inputs = torch.randn(64, 6)
    data = torch.utils.data.TensorDataset(inputs, inputs[:, :3].argmax(1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    losses = []
    for _ in range(3):
        for features, labels in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(features), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()).item())
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        weight = model[0].weight.detach().clone()
        with torch.no_grad():
            model[0].weight.zero_()
        accelerator.load_state(folder)
    assert torch.equal(model[0].weight, weight)
    metrics = accelerator.gather_for_metrics((model.eval()(inputs).argmax(1) == data.tensors[1]).float())
    print(json.dumps({"losses": losses, "accuracy": metrics.mean().item(), "device": str(accelerator.device)}))


main()
