"""What `hatchw` runs: Hatch, with the progress of native builds while they run and a summary at the end.

    python tools/hatch_run.py HATCH ARGUMENT...

pip shows nothing of the packages that it builds, and the native modules take minutes. Their builds write down how far they
are (tools/native_cache.cmake); this shows it. Before a command runs, native modules that are older than their sources are
built again, in the environments that the command names. After the README's two commands it says what was done and where to
look.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".hatch" / "native"
RESULTS = ROOT / ".hatch" / "results"
KEPT = 8
"""Native modules of older states that stay in the cache."""
EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal to write over."""


class NativeBuilds(threading.Thread):
    """Watches the native builds that Hatch starts, and shows how far they are on standard error."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.started = time.time()
        self.shown: dict[str, tuple[str, float]] = {}
        self.seconds: dict[str, float] = {}
        self.files: dict[str, tuple[int, int]] = {}
        self.taken: set[str] = set()

    def run(self) -> None:
        """Look twice a second until Hatch has ended."""
        while not self.done.wait(0.5):
            self.look()

    def look(self) -> None:
        """Read every progress file that was written since the start."""
        for path in CACHE.glob("*.progress"):
            if path.stat().st_mtime < self.started:
                continue
            name = path.stem
            lines = path.read_text().split()
            if not lines or lines[0] == "taken":
                self.taken |= {name} if lines else set()
                continue
            self.files[name] = len(lines) - 1, int(lines[0])
            self.show(name, *self.files[name])

    def show(self, name: str, compiled: int, total: int) -> None:
        """Say how many files of a module are compiled: over the last line on a terminal, else every few seconds."""
        start = self.seconds.setdefault(name, time.time())
        text = f"compiling {name}: {compiled} of {total} files, {time.time() - start:.0f} s"
        said, when = self.shown.get(name, ("", 0.0))
        finished = compiled >= total
        if said == f"{compiled}":
            return
        if sys.stderr.isatty():
            print(f"\r{text}", end="\n" if finished else "", file=sys.stderr, flush=True)
        elif finished or time.time() - when > EVERY:
            print(text, file=sys.stderr, flush=True)
        else:
            return
        self.shown[name] = (f"{compiled}", time.time())

    def sentence(self) -> str:
        """Return what was compiled, what does not compile, and what was there already."""
        parts = []
        for name, (compiled, total) in sorted(self.files.items()):
            why = f"`pip install --verbose --editable packages/{name.replace('_', '-')}` says why"
            lost = f"{name} NOT compiled, {compiled} of {total} files: numpy computes instead, and {why}"
            parts.append(f"{name} compiled" if compiled >= total else lost)
        parts += [f"{name} taken from .hatch/native" for name in sorted(self.taken - set(self.files))]
        return ", ".join(parts)


def tidy() -> None:
    """Keep the newest modules of the cache."""
    modules = sorted(CACHE.glob("*/_native.*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for module in modules[KEPT:]:
        module.unlink()
        if not any(module.parent.iterdir()):
            module.parent.rmdir()


def sources(member: Path) -> list[Path]:
    """Return the files that a member's native module is made of (tools/native_cache.cmake has the same list)."""
    native = [path for path in (member / "native").rglob("*") if path.is_file()]
    (package,) = [path.parent for path in (member / "src").glob("*/_native.pyi")]
    headers = ROOT / "packages" / "mindtorch-runtime" / "src" / "mindtorch_runtime" / "include"
    shared = [path for path in headers.rglob("*") if path.is_file()]
    layout = [path for path in (package / "layout.py",) if path.exists()]
    return [*native, *shared, *layout, package / "_native.pyi", member / "CMakeLists.txt"]


def outdated(environment: Path) -> list[Path]:
    """Return the members whose native module in an environment is older than what it is made of.

    Of one that did not compile there, its installation counts in place of the module.
    """
    found = []
    for member in sorted(path.parent for path in ROOT.glob("packages/*/CMakeLists.txt")):
        name = member.name.replace("-", "_")
        inside = (f"{name}/_native.*.so", f"{name}-*.dist-info")
        made = [path for part in inside for path in environment.glob(f"lib/python*/site-packages/{part}")]
        if made and max(path.stat().st_mtime for path in sources(member)) > made[0].stat().st_mtime:
            found.append(member)
    return found


def refresh(command: Sequence[str]) -> None:
    """Build anew what is outdated: Hatch installs members once, editable, and does not see that their native sources change.

    Raises `subprocess.CalledProcessError` where pip fails.
    """
    named = next((part.partition(":")[0] for part in command[1:] if ":" in part), "")
    data = Path(os.environ.get("HATCH_DATA_DIR", ROOT / ".hatch" / "data"))
    for environment in sorted(data.glob("env/virtual/*")) if named else ():
        if environment.name.partition(".")[0] != named:
            continue
        for member in outdated(environment):
            print(
                f"{environment.name}: the sources of {member.name} are newer than its module",
                file=sys.stderr,
                flush=True,
            )
            pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"]
            subprocess.run([*pip, "--editable", str(member)], check=True)


def results() -> list[str]:
    """Return a line for every run of tests that this command made (conftest.py writes them)."""
    lines = []
    for path in sorted(RESULTS.glob("*.json")):
        found = json.loads(path.read_text())
        counts = ", ".join(f"{count:,} {word}" for word, count in found["counts"].items())
        lines.append(f"  {found['name']}: {counts} in {found['seconds'] / 60:.1f} minutes")
        longest = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in found["longest"])
        lines.append(f"    longest: {longest}")
        lines += [f"    {name}" for name in found["failures"]]
    return lines


def summary(command: str, status: int, seconds: float, builds: NativeBuilds) -> str:
    """Return what was done and where to look next."""
    state = "done" if status == 0 else f"FAILED (exit status {status if status >= 0 else 128 - status})"
    lines = ["", f"{command}: {state} after {seconds // 60:.0f} min {seconds % 60:.0f} s"]
    if builds.sentence():
        lines.append(f"  native code: {builds.sentence()}")
    if command == "demo:bert":
        lines += [
            "  A BERT was trained through `import torch`, without torch, by examples/bert/train.py.",
            "  Where to look: examples/bert/README.md, the losses in examples/bert/out/loss.svg, figures beside torch in",
            "  docs/status/bert.md.",
            "  Your own program: ./hatchw run demo:mindtorch run PROGRAM.py; docs/start/ says the rest.",
        ]
    else:
        lines += results()
        lines += [
            "  `oracle` ran beside torch 2.13.0 and compared with it; `proxy` ran without torch.",
            "  Where to look: docs/status/ for the scoreboards; one test again: ./hatchw run +surface=oracle test:run PATH",
        ]
    return "\n".join(lines)


def run(command: Sequence[str]) -> int:
    """Run Hatch and return its exit status; what stops this process stops Hatch."""
    with subprocess.Popen(command) as process:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches Hatch, too, which decides
        signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
        return process.wait()


def main(command: Sequence[str]) -> int:
    """Run the command line of Hatch."""
    CACHE.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("MINDTORCH_NATIVE_CACHE", str(CACHE))
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    named = next((part for part in command if part in ("demo:bert", "test:run", "test:quick")), "")
    if named.startswith("test:"):
        RESULTS.mkdir(parents=True, exist_ok=True)
        for old in RESULTS.glob("*.json"):
            old.unlink()
        os.environ["MINDTORCH_TEST_RESULTS"] = str(RESULTS)
    builds = NativeBuilds()
    builds.start()
    start = time.monotonic()
    try:
        refresh(command)
        status = run(command)
    except subprocess.CalledProcessError as error:
        status = error.returncode
    builds.done.set()
    builds.look()
    tidy()
    if named:
        print(summary(named, status, time.monotonic() - start, builds), file=sys.stderr)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
