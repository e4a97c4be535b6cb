"""A small WordPiece tokenizer whose vocabulary is made from the text it will read."""

import re
from collections import Counter

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)

_WORD = re.compile(r"\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Lower the case and split into words and punctuation."""
    return _WORD.findall(text.lower())


def build_vocabulary(text: str, size: int) -> list[str]:
    """Return the special tokens, every character (as a start and as a continuation), and the most frequent words."""
    words = Counter(split_words(text))
    letters = sorted({letter for word in words for letter in word})
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    frequent = (word for word, _ in words.most_common() if len(word) > 1)
    endings = Counter(f"##{word[-n:]}" for word in words for n in (2, 3) if len(word) > n + 1)
    common_endings = [ending for ending, count in endings.most_common(60) if count > 3]
    pieces += common_endings
    pieces += [word for word, _ in zip(frequent, range(max(0, size - len(pieces))), strict=False)]
    return pieces


class Tokenizer:
    """Greedy longest-match WordPiece."""

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self._ids = {piece: index for index, piece in enumerate(vocabulary)}

    def encode(self, text: str) -> list[int]:
        """Return the piece numbers of a text, without special tokens."""
        return [number for word in split_words(text) for number in self._encode_word(word)]

    def _encode_word(self, word: str) -> list[int]:
        numbers, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._ids.get(word[start:end] if start == 0 else f"##{word[start:end]}")
                if number is not None:
                    break
            else:
                return [UNK]
            numbers.append(number)
            start = end
        return numbers

    def decode(self, numbers: list[int]) -> str:
        """Return readable text for piece numbers."""
        return " ".join(self.vocabulary[number] for number in numbers).replace(" ##", "")
