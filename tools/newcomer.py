"""A newcomer's walk: clone, run the README's two commands in a fresh user environment, record what one sees.

    python tools/newcomer.py [--skip-tests]

Writes docs/status/newcomer.md with times and the end of each output. Paths of the machine are left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "status" / "newcomer.md"
SHOWN = 30
"""Lines of output that the page keeps, from the end."""


class Walk:
    """Commands run in a clone with a home of its own, and what they printed."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "mindtorch"
        self.home = folder / "home"
        self.home.mkdir()
        self.steps: list[tuple[str, float, int, str]] = []

    def run(self, command: str, cwd: Path) -> None:
        """Run one command, timed, and keep the end of what it printed."""
        kept = ("PATH", "LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
        environment = {key: value for key, value in os.environ.items() if key in kept or key.startswith("PIP_")}
        environment |= {"HOME": str(self.home), "COLUMNS": "100", "TERM": "dumb"}
        start = time.monotonic()
        done = subprocess.run(
            command, shell=True, cwd=cwd, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        seconds = time.monotonic() - start
        self.steps.append((command, seconds, done.returncode, self._cleaned(done.stdout + done.stderr)))
        print(f"{command}: exit {done.returncode} after {seconds:.0f} s", flush=True)

    def _cleaned(self, text: str) -> str:
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "\n")
        text = text.replace(str(self.clone), ".").replace(str(self.home), "~").replace(str(ROOT), "REPOSITORY")
        lines = [line.rstrip()[:140] for line in text.splitlines() if line.strip() and "WARNING: Location" not in line]
        return "\n".join(lines[-SHOWN:])


def page(walk: Walk) -> str:
    """Return the Markdown of a walk."""
    parts = [
        "# A newcomer's walk",
        "",
        f"Written by `python tools/newcomer.py`: a fresh clone, an empty home, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores that others use too.",
        "",
        "| command | seconds | exit |",
        "| --- | ---: | ---: |",
    ]
    parts += [f"| `{command}` | {seconds:.0f} | {code} |" for command, seconds, code, _ in walk.steps]
    for command, _, _, text in walk.steps[1:]:
        parts += ["", f"## `{command}`", "", "The end of what it prints:", "", "```", text, "```"]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Walk, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-tests", action="store_true", help="run the main job only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        walk = Walk(folder)
        walk.run(f"git clone --quiet {ROOT} mindtorch", folder)
        walk.run("./hatchw run demo:bert", walk.clone)
        walk.run("./hatchw run demo:bert", walk.clone)
        if not arguments.skip_tests:
            walk.run("./hatchw run test:run", walk.clone)
        walk.steps[0] = ("git clone", *walk.steps[0][1:])
        PAGE.write_text(page(walk))


if __name__ == "__main__":
    main()
