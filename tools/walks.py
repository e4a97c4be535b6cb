"""Walk through pages of the documentation as a new user would: install from wheels, write the files, type the commands.

    python tools/walks.py [--wheels dist] [--write]

Every walk starts in an empty folder, in one environment that the first page's `pip install` made, with our members from
the folder of wheels. Runs in the environment `pkg`. `--write` puts the times into docs/status/walks.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pages

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "status" / "walks.md"
WALKS = {
    "Install, and run a first program": "start/index.md",
    "Run an existing program": "guides/run.md",
    "Find why a program fails": "guides/doctor.md",
    "Add an operator with its backward": "guides/operator.md",
    "Record and read a memory snapshot": "guides/npu-memory.md",
    "Move a checkpoint": "guides/checkpoints.md",
    "Record a trace and look at it": "guides/speed.md",
    "Train on two ranks, and in shards": "guides/distributed.md",
    "Save a program with its numbers": "guides/export.md",
    "Defer calls": "guides/pipelines.md",
    "Add a kernel for a device": "guides/backend.md",
    "Use one component alone": "guides/components.md",
    "Diagnose a host with devices": "guides/npu-diagnostics.md",
    "Spend the first hour with a card, on the simulator": "guides/npu-first-hour.md",
    "See what differs from torch": "start/differences.md",
    "Use the proxy": "concepts/proxy.md",
    "Use the random stream": "concepts/random.md",
    "Follow one call": "architecture/one-call.md",
    "Meet the common errors": "reference/errors.md",
}
"""What a reader wants, and the page that says how."""


@dataclass
class Step:
    """One command of a walk."""

    walk: str
    command: str
    seconds: float


class Reader:
    """A user with an empty home, an environment of their own, and nothing but the pages."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.folder = folder
        self.steps: list[Step] = []
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        commands = folder / "environment" / "bin"
        kept = ("LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
        self.environment = {
            name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")
        }
        self.environment |= {
            "PATH": os.pathsep.join([str(commands), "/usr/bin", "/bin"]),
            "HOME": str(folder),
            "PIP_FIND_LINKS": str(wheels),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def walk(self, wish: str, path: Path) -> None:
        """Do what a page says; what fails ends everything."""
        page = pages.read(path)
        place = self.folder / path.stem
        place.mkdir()
        for name, text in page.files.items():
            (place / name).write_text(text, encoding="utf-8")
        environment = self.environment | page.environment
        installing = [command for command in page.commands if command.startswith("pip ")]
        for command in installing:
            self.type(wish, command, place, environment)
        if page.program:
            (place / "page.py").write_text(page.program, encoding="utf-8")
            self.type(wish, "mindtorch run page.py", place, environment, shown="the programs of the page")
        for command in page.commands:
            if command not in installing:
                self.type(wish, command, place, environment)

    def type(self, wish: str, command: str, place: Path, environment: dict[str, str], shown: str = "") -> None:
        """Type one command, timed."""
        start = time.monotonic()
        done = subprocess.run(command, shell=True, cwd=place, env=environment, capture_output=True, text=True)
        seconds = time.monotonic() - start
        print(f"{wish}: {shown or command}: exit {done.returncode} after {seconds:.1f} s", flush=True)
        if done.returncode:
            raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
        self.steps.append(Step(wish, shown or command, seconds))


def text(steps: list[Step]) -> str:
    """Return the page of the times."""
    lines = [
        "# Walks",
        "",
        "Written by `./hatchw run pkg:walks --write`: what a new user wants, done by following the pages alone, in an",
        f"environment made of wheels, with Python {platform.python_version()}, {os.cpu_count()} cores that others use too.",
    ]
    for wish, path in WALKS.items():
        mine = [step for step in steps if step.walk == wish]
        lines += ["", f"## {wish}: {sum(step.seconds for step in mine):.0f} s", "", f"By [the page](../{path}).", ""]
        lines += [
            "| step | seconds |",
            "| --- | ---: |",
            *(f"| `{step.command.replace('|', chr(92) + '|')}` | {step.seconds:.1f} |" for step in mine),
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="a folder with the wheels of our members")
    parser.add_argument("--write", action="store_true", help="write docs/status/walks.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        reader = Reader(Path(name), options.wheels.resolve())
        for wish, path in WALKS.items():
            reader.walk(wish, ROOT / "docs" / path)
    if options.write:
        PAGE.write_text(text(reader.steps), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
