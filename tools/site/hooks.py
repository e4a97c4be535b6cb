"""Hooks of MkDocs: pages that are made when the site is built (the reference, changelogs, charts), and their navigation."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
import charts
import pictures
import reference

import pages

ROOT = Path(__file__).resolve().parents[2]
MADE: dict[str, str] = {}
"""Every page that is made, by its path."""


def changelogs() -> dict[str, str]:
    """Return the changelogs of the members, with the changes that no release has yet."""
    found = {}
    for path in sorted(ROOT.glob("packages/*/CHANGELOG.md")):
        name = path.parent.name
        text = path.read_text().replace("<!-- towncrier release notes start -->", "").rstrip()
        fragments = sorted(path.parent.glob("changes/*.*.md"))
        lines = [f"- {' '.join(one.read_text().split())}" for one in fragments]
        found[f"changelogs/{name}.md"] = text + "\n\n## Not released yet\n\n" + ("\n".join(lines) or "Nothing.") + "\n"
    return found


def copied() -> dict[str, str]:
    """Return the pages that stand at the root of the repository, links into it as plain names."""
    found = {}
    for source, target in (("CONTRIBUTING.md", "contributing.md"), ("SECURITY.md", "security.md")):
        text = (ROOT / source).read_text().replace("](docs/", "](")
        found[target] = re.sub(r"\[([^\]]+)\]\((?!https?:|[a-z]+/|#)[^)]*\)", r"\1", text)
    return found


def tutorials() -> dict[str, str]:
    """Return the notebooks as pages: their texts and cells, and a link to the file itself."""
    found = {}
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.ipynb")):
        parts = []
        for cell in json.loads(path.read_text())["cells"]:
            text = "".join(cell["source"])
            parts.append(f"```{{.python}}\n{text}\n```" if cell["cell_type"] == "code" else text)
        parts.append(f"[This notebook]({path.name}); a test runs its cells.")
        found[f"tutorials/{path.stem}.md"] = "\n\n".join(parts) + "\n"
    return found


def on_config(config: Any) -> Any:
    """Make the pages, and put them into the navigation where it says `made: FOLDER`."""
    MADE.update(reference.pages())
    MADE.update(changelogs())
    MADE.update(copied())
    MADE.update(tutorials())
    MADE.update(charts.pages(ROOT / "docs" / "status"))
    MADE.update(pictures.pages((ROOT / "docs" / "guides" / "npu-memory.md").read_text()))
    config.nav = [_filled(item) for item in config.nav]
    return config


def _filled(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    title, value = next(iter(item.items()))
    if isinstance(value, list):
        value = [
            one
            for part in value
            for one in (_made(part) if isinstance(part, dict) and "made" in part else [_filled(part)])
        ]
    return {title: value}


def _made(item: dict[str, str]) -> list[Any]:
    folder = item["made"]
    names = sorted(path for path in MADE if path.startswith(f"{folder}/") and path.endswith(".md"))
    plain = ("reference/compatibility.md", "reference/operators.md", "reference/packages.md", "figures/index.md")
    return [{Path(path).stem: path} for path in names if path not in plain]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages to those of the folder docs/."""
    for path, text in MADE.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Take from blocks what they say to tests alone."""
    return pages.for_readers(markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Warn, which ends a strict build, of a block that is shown as text."""
    if "```" in re.sub(r"<(pre|code)\b.*?</\1>", "", html, flags=re.S):
        logging.getLogger("mkdocs.hooks").warning("%s shows the fence of a block as text", page.file.src_uri)
    return html
