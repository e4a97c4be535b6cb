"""Sentences are encoded by a tiny model made here: pieces, BERT, mean pooling, normalisation."""

import json
import tempfile
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer, util
from sentence_transformers.models import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

SENTENCES = ["a cat sits", "the dog runs", "a dog sits there", "cat"]


def main():
    torch.manual_seed(4)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "cat", "dog", "sits", "runs", "there"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "vocab.txt").write_text("\n".join(words))
        BertTokenizerFast(vocab=str(Path(folder) / "vocab.txt")).save_pretrained(folder)
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
        BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=32, **sizes)).save_pretrained(folder)
        transformer = Transformer(folder, max_seq_length=16)
        model = SentenceTransformer(modules=[transformer, Pooling(16, "mean"), Normalize()], device="cpu")
        vectors = model.encode(SENTENCES, convert_to_tensor=True)
        arrays = model.encode(SENTENCES, batch_size=2)
    similar = util.cos_sim(vectors, vectors)
    assert abs(arrays - vectors.numpy()).max() < 1e-6
    print(json.dumps({"vectors": vectors.tolist(), "similar": similar.tolist()}))


main()
