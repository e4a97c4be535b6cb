"""The two sizes of model that the example trains."""

import torch
from transformers import BertConfig, BertForMaskedLM

SMALL = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "max_position_embeddings": 64,
}
"""Trains in well under a minute on a laptop; BERT-base is what BertConfig defaults to."""


def make_config(name: str, vocabulary_size: int) -> BertConfig:
    """Return the configuration of `small` or `bert-base`; the true BERT-base keeps its own vocabulary size."""
    if name == "small":
        return BertConfig(vocab_size=vocabulary_size, **SMALL)
    return BertConfig()


def make_model(config: BertConfig, seed: int) -> BertForMaskedLM:
    """Return a freshly initialised model, the same one for the same seed."""
    torch.manual_seed(seed)
    return BertForMaskedLM(config)
