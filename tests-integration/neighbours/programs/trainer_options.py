"""transformers' Trainer in bfloat16, with accumulated gradients, and taken up again from a checkpoint as if it never ended."""

import json
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed


class Counting(torch.utils.data.Dataset):
    """Sequences that count up from where they start: they can be learned."""

    def __len__(self):
        return 200

    def __getitem__(self, index):
        ids = (torch.arange(16) + index) % 60 + 3
        return {"input_ids": ids, "labels": ids}


class EndAt(TrainerCallback):
    """Ends training after a step, as a machine that is switched off."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, arguments, state, control, **more):
        control.should_training_stop = state.global_step >= self.step


def trainer(folder, callbacks=None, **options):
    set_seed(7)
    sizes = {"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32}
    arguments = TrainingArguments(
        output_dir=folder,
        max_steps=20,
        per_device_train_batch_size=4,
        learning_rate=2e-3,
        logging_steps=1,
        save_steps=10,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        **options,
    )
    model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=1, eos_token_id=2))
    return Trainer(model=model, args=arguments, train_dataset=Counting(), callbacks=callbacks)


def history(one):
    return [[entry["loss"], float(entry["grad_norm"])] for entry in one.state.log_history if "loss" in entry]


def main():
    modes = {
        "bfloat16": {"bf16": True},
        "accumulated": {"gradient_accumulation_steps": 4},
        "checkpointed": {"gradient_checkpointing": True},
        "smoothed": {"label_smoothing_factor": 0.1, "max_grad_norm": 0.5, "optim": "adafactor"},
        "sgd": {"optim": "sgd", "lr_scheduler_type": "polynomial", "neftune_noise_alpha": 5.0},
    }
    found = {}
    for name, options in modes.items():
        with tempfile.TemporaryDirectory() as folder:
            one = trainer(folder, **options)
            one.train()
            found[name] = history(one)
            assert found[name][-1][0] < found[name][0][0], name
    for name, options in [("resumed", {}), ("resumed, accumulated", {"gradient_accumulation_steps": 2})]:
        with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as parted:
            expected = trainer(whole, **options)
            expected.train()
            trainer(parted, [EndAt(10)], **options).train()
            again = trainer(parted, **options)
            again.train(resume_from_checkpoint=True)
        weights = dict(expected.model.named_parameters())
        assert all(torch.equal(weights[key], one) for key, one in again.model.named_parameters()), name
        found[name] = history(again)
        assert found[name][10:] == history(expected)[10:], name
    print(json.dumps(found))


main()
