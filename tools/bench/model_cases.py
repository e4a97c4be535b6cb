"""The cases that need transformers, which takes long to import; the worker reads this file when one is asked for."""

from collections.abc import Callable

import torch
from transformers import BertConfig, BertForMaskedLM, BertModel, GPT2Config, GPT2LMHeadModel


def bert_forward() -> Callable[[], object]:
    """BERT-base, inference."""
    model = BertModel(BertConfig()).eval()
    ids = torch.randint(0, 30000, (4, 128))

    def step() -> None:
        with torch.no_grad():
            model(ids)

    return step


def bert_train() -> Callable[[], object]:
    """BERT-base, one training step."""
    model = BertForMaskedLM(BertConfig()).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    ids = torch.randint(0, 30000, (2, 128))

    def step() -> None:
        optimizer.zero_grad()
        model(ids, labels=ids).loss.backward()
        optimizer.step()

    return step


def gpt2_decode() -> Callable[[], object]:
    """GPT-2-small, greedy decoding."""
    model = GPT2LMHeadModel(GPT2Config()).eval()
    ids = torch.randint(0, 50000, (1, 16))
    options = {"max_new_tokens": 32, "min_new_tokens": 32, "do_sample": False, "pad_token_id": 50256}

    def step() -> None:
        model.generate(ids, attention_mask=torch.ones_like(ids), **options)

    return step
