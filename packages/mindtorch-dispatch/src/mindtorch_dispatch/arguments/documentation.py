"""What operators compute, in words and examples: the texts beside the rows, `mindtorch_dispatch/ops/<family>.txt`.

A file is a list of entries. `= NAME...` starts one: the operators that it documents, the first of which its examples call;
then a text in Markdown, then examples as in a session of Python, whose results are torch's. A line `! TEXT` is a paragraph
that the entries after it share: shapes, dtypes, errors. The functions, methods, in-place forms and forms with `out=` of an
operator, its stub and its line in the reference are made of the one entry.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent.parent / "ops"
NAMESPACES = ("linalg", "special", "fft")
COPY = "_copy"
UNSAFE = "unsafe_"
FOREACH = "_foreach_"


class Entry(NamedTuple):
    """The documentation of an operator."""

    text: str
    note: str
    examples: str


@cache
def entries() -> dict[str, Entry]:
    """Return every entry by the name of its operator."""
    found: dict[str, Entry] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        note = ""
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            head, _, body = block.strip("\n").partition("\n")
            if head.startswith("! "):
                note = head[2:]
                continue
            names = head[2:].split()
            text, start, examples = body.partition(">>> ")
            for name in names:
                found[name] = Entry(text.rstrip(), note, _called(start + examples, names[0], name))
    return found


def _called(examples: str, first: str, name: str) -> str:
    return examples if name == first else examples.replace(f"{python_name(first)}(", f"{python_name(name)}(")


def python_name(name: str) -> str:
    """Return how a program names an operator: `torch.linalg.inv` for `linalg_inv`."""
    space, _, rest = name.partition("_")
    return f"torch.{space}.{rest}" if space in NAMESPACES and rest else f"torch.{name}"


def entry_of(name: str) -> Entry | None:
    """Return the entry of an operator: its own, or that of the operator of which it is a form."""
    found = entries()
    plain = name.rstrip("_") if not name.endswith("__") else name
    for candidate in (name, plain):
        if candidate in found:
            return found[candidate]
    if plain.endswith(COPY) and (base := found.get(first := plain.removesuffix(COPY))) is not None:
        note = "The result has memory of its own; sizes and dimensions are checked as for the view."
        return base._replace(note=note, examples=_called(base.examples, first, plain))
    if plain.startswith(UNSAFE) and (base := found.get(first := plain.removeprefix(UNSAFE))) is not None:
        note = "The parts may be changed in place without a look at each other."
        return base._replace(note=note, examples=_called(base.examples, first, plain))
    if plain.startswith(FOREACH) and (base := found.get(plain.removeprefix(FOREACH))) is not None:
        return base._replace(note=f"For every tensor of a list: {base.note}", examples="")
    return None
