"""The text as batches for masked language modelling."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from tokens import CLS, MASK, PAD, SEP, SPECIAL, Tokenizer, build_vocabulary

TEXT = Path(__file__).parent / "text" / "stories.txt"
IGNORED = -100
"""Label of the positions that the loss leaves out."""

MASKED_SHARE, MASK_TOKEN_SHARE, RANDOM_SHARE = 0.15, 0.8, 0.1


@dataclass(frozen=True)
class Batch:
    """Model inputs of one step."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    labels: torch.Tensor

    def inputs(self) -> dict[str, torch.Tensor]:
        """Return the keyword arguments for the model."""
        return {"input_ids": self.input_ids, "attention_mask": self.attention_mask, "labels": self.labels}


class Corpus:
    """Sequences of the text, one paragraph each, split into training and held-out ones."""

    def __init__(self, vocabulary_size: int, length: int, device: str = "cpu") -> None:
        self.device = device
        paragraphs = TEXT.read_text(encoding="utf-8").splitlines()
        self.tokenizer = Tokenizer(build_vocabulary("\n".join(paragraphs), vocabulary_size))
        rows = [row for paragraph in paragraphs for row in self._rows(paragraph, length)]
        table = torch.tensor(rows, dtype=torch.long)
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
        held_out = max(1, len(rows) // 8)
        self.evaluation = table[order[:held_out]]
        self.training = table[order[held_out:]]

    def _rows(self, paragraph: str, length: int) -> list[list[int]]:
        numbers = self.tokenizer.encode(paragraph)
        body = length - 2
        rows = []
        for start in range(0, len(numbers), body):
            row = [CLS, *numbers[start : start + body], SEP]
            rows.append(row + [PAD] * (length - len(row)))
        return rows

    def batches(self, size: int, seed: int) -> Iterator[Batch]:
        """Yield training batches without end, in a new random order each epoch."""
        generator = torch.Generator().manual_seed(seed)
        while True:
            order = torch.randperm(len(self.training), generator=generator)
            for start in range(0, len(order) - size + 1, size):
                yield self.mask(self.training[order[start : start + size]], generator)

    def evaluation_batches(self, size: int) -> Iterator[Batch]:
        """Yield the held-out sequences once, always masked in the same way."""
        generator = torch.Generator().manual_seed(1)
        for start in range(0, len(self.evaluation), size):
            yield self.mask(self.evaluation[start : start + size], generator)

    def mask(self, numbers: torch.Tensor, generator: torch.Generator) -> Batch:
        """Hide some pieces: most behind [MASK], some behind a random piece, some left as they are."""
        chosen = (torch.rand(numbers.shape, generator=generator) < MASKED_SHARE) & (numbers >= len(SPECIAL))
        labels = numbers.masked_fill(~chosen, IGNORED)
        fate = torch.rand(numbers.shape, generator=generator)
        replacement = torch.randint(len(SPECIAL), len(self.tokenizer.vocabulary), numbers.shape, generator=generator)
        hidden = torch.where(chosen & (fate < MASK_TOKEN_SHARE), MASK, numbers)
        hidden = torch.where(chosen & (fate >= 1.0 - RANDOM_SHARE), replacement, hidden)
        return Batch(*(part.to(self.device) for part in (hidden, (numbers != PAD).long(), labels)))
