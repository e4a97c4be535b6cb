"""TRL: losses of supervised and preference training of a small model, steps of its trainers."""

import json
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

words = ["<pad>", "<eos>", "<unk>", *"the a cat dog sat ran on mat road good bad is".split()]
raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def model():
    """Return the same small model each time."""
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(words), n_positions=32, n_embd=16, n_layer=2, n_head=2, eos_token_id=1)
    return GPT2LMHeadModel(config)


texts = Dataset.from_dict({"text": ["the cat sat on the mat", "a dog ran on the road", "the dog is good"] * 2})
pairs = Dataset.from_dict(
    {"prompt": ["the cat", "a dog"] * 2, "chosen": [" is good", " ran on"] * 2, "rejected": [" is bad", " sat"] * 2}
)
found = {}
for trainer, config, data in ((SFTTrainer, SFTConfig, texts), (DPOTrainer, DPOConfig, pairs)):
    with tempfile.TemporaryDirectory() as folder:
        arguments = config(
            folder, per_device_train_batch_size=2, max_steps=4, logging_steps=1, report_to=[], use_cpu=True,
            save_strategy="no", seed=0, learning_rate=1e-3, bf16=False, disable_tqdm=True, gradient_checkpointing=False,
        )  # fmt: skip
        given = {} if trainer is SFTTrainer else {"ref_model": model()}
        made = trainer(model=model(), **given, args=arguments, train_dataset=data, processing_class=tokenizer)
        made.train()
    found[trainer.__name__] = [
        [{key: line[key] for key in ("loss", "grad_norm") if key in line} for line in made.state.log_history],
        [float(one.double().abs().sum()) for one in made.model.parameters()],
    ]
print(json.dumps(found))
