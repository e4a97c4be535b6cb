"""Read what a page of the documentation asks its reader to do: files to write, commands to type, programs to run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^|\n\n)((?:(?: {4}|\t)[^\n]*\n)+)")
RAISES = re.compile(r'^(```python) raises="[^"\n]+"$', re.M)
COMMANDS = ("mindtorch", "mindtorch-npu", "pip", "torchrun")
EXPECT = """
try:
{body}
except Exception as error:
    assert {text!r} in str(error), str(error)
else:
    raise AssertionError("nothing was raised")
"""


@dataclass
class Page:
    """What a page shows, in its order; `program` is made of the Python blocks that are no files."""

    program: str = ""
    files: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    """Blocks, and lines of `sh` blocks, that nobody runs."""


def for_readers(text: str) -> str:
    """Return a page without what its blocks say to tests alone, which the site would not take for a block."""
    return RAISES.sub(r"\1", text)


def has_blocks(path: Path) -> bool:
    """Return whether a page shows anything to run."""
    return re.search(r"^```(python|sh)", path.read_text(encoding="utf-8"), re.M) is not None


def read(path: Path) -> Page:
    """Return what a page shows. A block with `raises="text"` must end with an error that holds the text."""
    page, parts = Page(), []
    text = path.read_text(encoding="utf-8")
    for language, options, body in FENCE.findall(text):
        title = re.search(r'title="([^"]+)"', options)
        raises = re.search(r'raises="([^"]+)"', options)
        if language == "sh":
            _read_commands(page, body)
        elif language != "python":
            page.others.append(body)
        elif title:
            page.files[title[1]] = body
        elif raises:
            indented = "".join(f"    {line}\n" for line in body.splitlines())
            parts.append(EXPECT.format(body=indented, text=raises[1]))
        else:
            parts.append(body)
    page.others += INDENTED.findall(FENCE.sub("", text))
    page.program = "\n".join(parts)
    return page


def _read_commands(page: Page, body: str) -> None:
    for line in body.splitlines():
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            page.environment[name] = value.strip('"')
        elif line.partition(" ")[0] in COMMANDS:
            page.commands.append(line)
        else:
            page.others.append(line)
