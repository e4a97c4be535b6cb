"""transformers' Trainer for 50 steps on a tiny seeded GPT-2: every step's loss and the norm of its gradients."""

import json
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

STEPS = 50


class Counting(torch.utils.data.Dataset):
    """Sequences that count up from where they start: they can be learned."""

    def __len__(self):
        return 400

    def __getitem__(self, index):
        ids = (torch.arange(16) + index) % 60 + 3
        return {"input_ids": ids, "labels": ids}


def main():
    set_seed(7)
    config = GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=32, bos_token_id=1, eos_token_id=2)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=8,
            learning_rate=1e-3,
            warmup_steps=5,
            lr_scheduler_type="cosine",
            logging_steps=1,
            save_steps=25,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            seed=7,
        )
        trainer = Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Counting())
        trainer.train()
        history = [entry for entry in trainer.state.log_history if "loss" in entry]
        evaluated = trainer.evaluate(torch.utils.data.Subset(Counting(), range(16)))["eval_loss"]
        resumed = Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Counting())
        resumed.train(resume_from_checkpoint=f"{folder}/checkpoint-25")
        again = [entry["loss"] for entry in resumed.state.log_history if "loss" in entry]
    losses = [float(entry["loss"]) for entry in history]
    assert len(losses) == STEPS
    assert losses[-1] < losses[0]
    norms = [float(entry["grad_norm"]) for entry in history]
    print(json.dumps({"losses": losses, "norms": norms, "eval": evaluated, "resumed": [float(loss) for loss in again]}))


main()
