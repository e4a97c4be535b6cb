"""Saves the trained model in both formats and shows that what comes back computes the same."""

from pathlib import Path

import torch
from data import Batch
from transformers import BertForMaskedLM


@torch.no_grad()
def logits_of(model: BertForMaskedLM, batch: Batch) -> torch.Tensor:
    """Return the model's logits for a batch, dropout off."""
    model.eval()
    return model(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits


def save_and_reload(model: BertForMaskedLM, batch: Batch, folder: Path) -> list[tuple[str, int, bool]]:
    """Save with save_pretrained and with torch.save, reload both; return (file, bytes, logits equal bit for bit)."""
    expected = logits_of(model, batch)
    results = []

    pretrained = folder / "pretrained"
    model.save_pretrained(pretrained)
    reloaded = BertForMaskedLM.from_pretrained(pretrained).to(model.device)
    weights = pretrained / "model.safetensors"
    results.append((weights.name, weights.stat().st_size, torch.equal(logits_of(reloaded, batch), expected)))

    plain = folder / "model.pt"
    torch.save(model.state_dict(), plain)
    fresh = BertForMaskedLM(model.config).to(model.device)
    fresh.load_state_dict(torch.load(plain, map_location=model.device))
    results.append((plain.name, plain.stat().st_size, torch.equal(logits_of(fresh, batch), expected)))
    return results
