"""The cases that need transformers, which takes long to import; the worker reads this file when one is asked for."""

import contextlib
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


def bert_pipeline() -> Callable[[], object]:
    """The same in a fusing pipeline, where there is one."""
    model = BertModel(BertConfig()).eval()
    ids = torch.randint(0, 30000, (4, 128))
    pipeline = getattr(torch, "pipeline", None)
    context = contextlib.nullcontext if pipeline is None else lambda: pipeline(fuse=True)

    def step() -> None:
        with torch.no_grad(), context():
            model(ids)

    return step


def _bert_train(**options: object) -> Callable[[], object]:
    model = BertForMaskedLM(BertConfig()).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, **options)
    ids = torch.randint(0, 30000, (2, 128))

    def step() -> None:
        optimizer.zero_grad()
        model(ids, labels=ids).loss.backward()
        optimizer.step()

    return step


def bert_train() -> Callable[[], object]:
    """BERT-base, one training step with the default optimizer."""
    return _bert_train()


def bert_train_fused() -> Callable[[], object]:
    """BERT-base, one training step with the fused optimizer."""
    return _bert_train(fused=True)


def gpt2_decode() -> Callable[[], object]:
    """GPT-2-small, greedy decoding."""
    model = GPT2LMHeadModel(GPT2Config()).eval()
    ids = torch.randint(0, 50000, (1, 16))
    options = {"max_new_tokens": 32, "min_new_tokens": 32, "do_sample": False, "pad_token_id": 50256}

    def step() -> None:
        model.generate(ids, attention_mask=torch.ones_like(ids), **options)

    return step
