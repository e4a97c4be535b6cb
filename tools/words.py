"""Words of our own that have a word in the field: found in code and documents, so that they do not come back.

    python tools/words.py check

The list says what to write instead; docs/architecture/glossary.md explains the words that we do use. A line that needs such
a word, for a file format or somebody's name, is listed in ALLOWED.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

WORDS = {
    r"twins?": "native call path, executor; for two of a kind: counterpart",
    r"doors?": "interface, hook",
    r"quiet\.py": "errstate",
    r"brains?": "bfloat16",
    r"rings?": "circular buffer or list",
    r"largest_of_(windows|cells)": "max_pool, adaptive_max_pool",
    r"to_indices_of_\w+": "max_pool_backward",
}
"""Regular expression of a word to what the field calls it."""

NATIVE_WORDS = {
    r"slopes?|slope_\w+": "grad, derivative",
    r"boards?": "table, result",
    r"neighbours?": "adjacent element",
    r"hosts?": "the CPU; main memory",
}
"""The same in C++ alone: in Python a leaky ReLU has a slope, and interpolation neighbours."""

ALLOWED = (
    "brain.Event:2",  # the version that TensorBoard's files begin with
    "`brain`",
)
"""Parts of lines in which a word may stand."""

PLACES = (
    "packages/*/src/*.py",
    "packages/*/native/*.cpp",
    "packages/*/native/*.h",
    "packages/*/src/*.h",
    "docs/architecture/*.md",
    "docs/*.md",
    "CONTRIBUTING.md",
    "README.md",
    "packages/*/README.md",
)
"""What is read; the pages of docs/status are results, those of docs/decisions are history."""


def files() -> list[Path]:
    """Return the files to read, as git knows them."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *PLACES], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    left_out = (
        "docs/status/",
        "docs/decisions/",
        "docs/architecture/glossary.md",
    )
    return [ROOT / name for name in listed if not name.startswith(left_out)]


def findings(text: str, native: bool = False) -> list[tuple[int, str, str]]:
    """Return (line, word, what to write) for every private word in `text`, which may be native code."""
    found = []
    words = {**WORDS, **NATIVE_WORDS} if native else WORDS
    for number, line in enumerate(text.splitlines(), 1):
        if any(part in line for part in ALLOWED):
            continue
        for word, instead in words.items():
            match = re.search(rf"(?<![A-Za-z_])({word})(?![A-Za-z_])", line, re.IGNORECASE)
            if match:
                found.append((number, match[1], instead))
    return found


def main() -> int:
    """Print what was found and return 1 when that is anything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check"])
    parser.parse_args()
    wrong = [
        f"{file.relative_to(ROOT)}:{number}: {word!r}: write {instead}"
        for file in files()
        if file.is_file()
        for number, word, instead in findings(
            file.read_text(encoding="utf-8"), file.suffix != ".py" and "native" in file.relative_to(ROOT).parts
        )
    ]
    print("\n".join(wrong) or "words: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
