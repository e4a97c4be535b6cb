"""transformers' Trainer on two ranks: a small BERT, its batches shared, evaluated and saved by rank 0."""

import json
import tempfile

import torch
from launching.two_ranks import run
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class Texts(torch.utils.data.Dataset):
    """Random words, labelled by the first."""

    def __init__(self, count):
        self.words = torch.randint(1, 60, (count, 10), generator=torch.Generator().manual_seed(count))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        words = self.words[index]
        return {"input_ids": words, "attention_mask": torch.ones_like(words), "labels": int(words[0] > 30)}


def main():
    set_seed(5)
    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=4, per_device_eval_batch_size=4, max_steps=6, logging_steps=1,
            learning_rate=1e-3, use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True, ddp_backend="gloo",
        )  # fmt: skip
        trainer = Trainer(
            BertForSequenceClassification(config), arguments, train_dataset=Texts(40), eval_dataset=Texts(18)
        )
        trainer.train()
        found = trainer.evaluate()
    logged = trainer.state.log_history
    losses = [entry["loss"] for entry in logged if "loss" in entry]
    norms = [entry["grad_norm"] for entry in logged if "grad_norm" in entry]
    if trainer.is_world_process_zero():
        shown = {"losses": losses, "norms": norms, "evaluated": found["eval_loss"], "ranks": arguments.world_size}
        print(json.dumps(shown), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    run(__file__, main)
