"""sentence-transformers: a tiny model made here is trained on pairs, evaluated, saved and loaded."""

import json
import tempfile
from pathlib import Path

import torch
from sentence_transformers import InputExample, SentenceTransformer, losses
from sentence_transformers.models import Pooling, Transformer
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel, BertTokenizerFast

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "cat", "dog", "sits", "runs", "there"]
PAIRS = [("a cat sits", "the cat sits", 0.9), ("a dog runs", "the dog", 0.7), ("a cat", "the dog runs there", 0.1)]


def main():
    torch.manual_seed(4)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "vocab.txt").write_text("\n".join(WORDS))
        BertTokenizerFast(vocab=str(Path(folder) / "vocab.txt")).save_pretrained(folder)
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
        BertModel(BertConfig(vocab_size=len(WORDS), max_position_embeddings=32, **sizes)).save_pretrained(folder)
        model = SentenceTransformer(modules=[Transformer(folder, max_seq_length=16), Pooling(16, "mean")], device="cpu")
    examples = [InputExample(texts=[one, other], label=score) for one, other, score in PAIRS * 4]
    kinds = {
        "cosine": losses.CosineSimilarityLoss(model),
        "ranking": losses.MultipleNegativesRankingLoss(model),
        "contrastive": losses.OnlineContrastiveLoss(model),
        "cosent": losses.CoSENTLoss(model),
    }
    found = {}
    for name, loss in kinds.items():
        torch.manual_seed(1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        loader = DataLoader(examples, batch_size=4, shuffle=True, collate_fn=lambda batch: batch)
        seen = []
        for batch in loader:
            features = [model.tokenize([one.texts[side] for one in batch]) for side in range(2)]
            value = loss(features, torch.tensor([one.label for one in batch]))
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            seen.append(value.item())
        found[name] = seen
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        again = SentenceTransformer(folder, device="cpu")
    vectors = again.encode([one for one, _, _ in PAIRS])
    assert abs(vectors - model.encode([one for one, _, _ in PAIRS])).max() < 1e-6
    print(json.dumps({"found": found, "vectors": vectors.tolist()}))


main()
