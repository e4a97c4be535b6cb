"""Trainer and accelerate on the accelerator that is there: the simulated NPU, where one is; torch computes on the CPU."""

import json
import os
import tempfile

import torch
from accelerate import Accelerator
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Counting(torch.utils.data.Dataset):
    """Sequences that count up from where they start: they can be learned."""

    def __len__(self):
        return 200

    def __getitem__(self, index):
        ids = (torch.arange(16) + index) % 60 + 3
        return {"input_ids": ids, "labels": ids}


def model():
    set_seed(7)
    sizes = {"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32}
    without = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}  # each device has random numbers of its own
    return GPT2LMHeadModel(GPT2Config(**sizes, **without, bos_token_id=1, eos_token_id=2))


def expected_device():
    return "npu" if os.environ["MINDTORCH_NPU_SIMULATOR"] and hasattr(torch, "npu") else "cpu"


def trained():
    with tempfile.TemporaryDirectory() as folder:
        options = {"max_steps": 15, "per_device_train_batch_size": 4, "learning_rate": 2e-3, "logging_steps": 1}
        quiet = {"report_to": [], "disable_tqdm": True, "dataloader_pin_memory": False, "save_steps": 15}
        arguments = TrainingArguments(output_dir=folder, seed=7, **options, **quiet)
        assert arguments.device.type == expected_device()
        one = Trainer(model=model(), args=arguments, train_dataset=Counting())
        one.train()
        assert {weight.device.type for weight in one.model.parameters()} == {expected_device()}
        evaluated = one.evaluate(torch.utils.data.Subset(Counting(), range(8)))["eval_loss"]
        loaded = GPT2LMHeadModel.from_pretrained(f"{folder}/checkpoint-15")
    weights = loaded.state_dict()
    assert all(torch.equal(weights[name], value.cpu()) for name, value in one.model.state_dict().items())
    history = [[entry["loss"], float(entry["grad_norm"])] for entry in one.state.log_history if "loss" in entry]
    return {"history": history, "evaluated": evaluated}


def accelerated():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    assert accelerator.device.type == expected_device()
    net = model()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    loader = torch.utils.data.DataLoader(Counting(), batch_size=8)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    losses = []
    for batch in loader:
        assert batch["input_ids"].device.type == expected_device()
        with accelerator.accumulate(net):
            loss = net(**batch).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather_for_metrics(loss.detach()).item())
    return losses


print(json.dumps({"trainer": trained(), "accelerate": accelerated()}))
