"""Expressions that make instances of torch's public classes, read from `instances.txt`, one a line."""

from __future__ import annotations

from pathlib import Path

_TEXT = Path(__file__).with_name("instances.txt")
_FORMS = {
    "# Optimizers of the parameters P": "(lambda P: optim.{})(parameters())",
    "# Schedulers of the optimizer O": "(lambda O: {})(optimizer())",
}
"""By the heading of a group, what its expressions stand in."""


def expressions() -> list[str]:
    """Return every expression, with the parameters and the optimizer that a group takes."""
    found, form = [], "{}"
    for line in _TEXT.read_text().splitlines():
        if line.startswith("#"):
            form = _FORMS.get(line, "{}")
        elif line:
            found.append(form.replace("{}", line))
    return found
