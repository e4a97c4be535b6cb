"""Make the wheels that users install, for every CPython at hand, and try each as a user would.

    python tools/wheelhouse.py [--python PYTHON ...] [--folder wheelhouse] [--built] [--write]

1. An sdist of every member, and the pure members' wheels from them.
2. For each CPython the compiled members' wheels, from their sdists, repaired by auditwheel for any Linux of the same age.
3. `twine check --strict`, `auditwheel show`, and what `tools/wheels.py portable` asks of them.
4. For each CPython a fresh environment without a compiler in reach: `mindtorch-full` from the folder as the only source of
   our members, timed; a training step; the compiled members' own tests.
5. A bill of materials (CycloneDX) of what an installation of `mindtorch-full` holds.

Runs in the environment `pkg` (`./hatchw run pkg:wheelhouse`). `--built` tries what an earlier run left in the folder.
`--write` puts the figures into docs/status/packages.md; rows of interpreters that this run did not try stay.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import bill
import members as workspace
import wheels
from members import ROOT, Member

PAGE = ROOT / "docs" / "status" / "packages.md"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEM_LIBRARY = "libgomp.so.1"
"""Stays the system's: a copy in the wheel would be a second pool of threads."""

TRAIN = """
import mindtorch as torch
assert NATIVE, "the native modules are missing"
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
x = torch.randn(64, 8)
y = (x.sum(1) > 0).long()
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 3, losses
"""


@dataclass
class Tried:
    """What an installation for one interpreter gave."""

    version: str
    wheels: list[Path]
    seconds: float = 0.0
    downloaded: int = 0
    ours: int = 0
    everything: int = 0
    tests: dict[str, str] = field(default_factory=dict)


def interpreters(given: list[str]) -> list[Path]:
    """Return the interpreters given, otherwise every supported CPython that the search path or pyenv knows."""
    if given:
        return [Path(shutil.which(one) or one) for one in given]
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for version in VERSIONS:
        places = sorted(kept.glob(f"{version}.*/bin/python{version}"))
        named = shutil.which(f"python{version}")
        if places or named:
            found.append(places[-1] if places else Path(named or ""))
    return found


def version_of(python: Path) -> str:
    """Return an interpreter's version, as `3.11.7`."""
    program = "import platform, sys; print(platform.python_version() if sys.implementation.name == 'cpython' else '')"
    done = subprocess.run([python, "-c", program], check=False, capture_output=True, text=True)
    if done.returncode:  # such as a name of pyenv for a version that is not chosen here
        raise SystemExit(f"{python}: does not run: {done.stderr.strip()}")
    version = done.stdout.strip()
    if not version.startswith(VERSIONS):
        raise SystemExit(f"{python}: wheels are made for CPython {', '.join(VERSIONS)}, not for {version or 'others'}")
    return version


def sdists(found: dict[str, Member], folder: Path) -> dict[str, Path]:
    """Build every member's source distribution, and the wheels of those that are pure."""
    made = {}
    for name, member in found.items():
        only = ["--sdist"] if name in wheels.COMPILED else []
        wheels.run(sys.executable, "-m", "build", "--quiet", *only, "-o", folder, member.folder)
        made[name] = folder / f"{name.replace('-', '_')}-{member.version}.tar.gz"
    return made


def native(name: str, sdist: Path, python: Path, folder: Path) -> Path:
    """Build a compiled member's wheel for one interpreter, and let auditwheel name it for the systems it runs on."""
    environment = {**os.environ, wheels.demand(name): "1"}
    with tempfile.TemporaryDirectory() as temporary:
        wheels.run(python, "-m", "venv", f"{temporary}/env")  # an interpreter of Debian's has no pip of its own
        pip = [f"{temporary}/env/bin/python", "-m", "pip", "--disable-pip-version-check"]
        wheels.run(*pip, "wheel", "--quiet", "--no-deps", "-w", temporary, sdist, env=environment)
        (wheel,) = Path(temporary).glob("*.whl")
        repaired = Path(temporary) / "repaired"
        wheels.run(
            sys.executable, "-m", "auditwheel", "repair", "--exclude", SYSTEM_LIBRARY, "-w", repaired, wheel,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        (made,) = repaired.glob("*.whl")
        return Path(shutil.move(made, folder / made.name))


def there(version: str, folder: Path) -> list[Path]:
    """Return the compiled wheels for an interpreter that an earlier run made; SystemExit where one is missing."""
    tag = "cp" + "".join(version.split(".")[:2])
    found = [next(folder.glob(f"{name.replace('-', '_')}-*-{tag}-*.whl"), None) for name in wheels.COMPILED]
    if None in found:
        raise SystemExit(f"{folder.name}: no wheels for CPython {version}; run without --built")
    return [wheel for wheel in found if wheel is not None]


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder, byte code left out, which pip makes at installation."""
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and f.suffix != ".pyc")


def without_compilers(folder: Path) -> dict[str, str]:
    """Return an environment whose search path leads to no compiler."""
    folder.mkdir(exist_ok=True)
    return {"PATH": str(folder), "HOME": str(folder), **{k: v for k, v in os.environ.items() if k.startswith("PIP_")}}


def attempt(python: Path, tried: Tried, found: dict[str, Member], house: Path) -> None:
    """Install `mindtorch-full` for one interpreter from the wheels alone, train, and run the compiled members' tests."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "env"
        wheels.run(python, "-m", "venv", folder)
        inside = folder / "bin" / "python"
        environment = without_compilers(Path(temporary) / "bin")
        pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile"]
        start = time.monotonic()
        wheels.run(*pip, "--only-binary", ":all:", "--find-links", house, "mindtorch-full", env=environment)
        tried.seconds = time.monotonic() - start
        tried.downloaded = downloaded(pip, house, Path(temporary) / "downloads")
        packages = next((folder / "lib").glob("python*")) / "site-packages"
        tried.ours = sum(size(packages / member.import_name) for member in found.values())
        tried.everything = size(packages)
        names = [f"{m.import_name}.native.module is not None" for n, m in found.items() if n in wheels.COMPILED]
        imports = "".join(f"import {m.import_name}.native\n" for n, m in found.items() if n in wheels.COMPILED)
        program = imports + TRAIN.replace("NATIVE", " and ".join(names))
        wheels.run(inside, "-c", program, cwd=temporary, env={**environment, "MINDTORCH_NATIVE": "1"})
        wheels.run(*pip, "pytest~=9.0", "pytest-timeout~=2.4")
        for name in wheels.COMPILED:
            tests = wheels.own_tests(found[name], found, workspace.closure(name, found))
            tried.tests[name] = outcome(inside, tests) if tests else "none of its own"


def downloaded(pip: list[object], house: Path, folder: Path) -> int:
    """Return the bytes that pip fetches for an installation of `mindtorch-full`."""
    fetch = ["download" if part == "install" else part for part in pip if part != "--no-compile"]
    wheels.run(*fetch, "--only-binary", ":all:", "--find-links", house, "--dest", folder, "mindtorch-full")
    return sum(file.stat().st_size for file in folder.iterdir())


def outcome(python: Path, tests: list[Path]) -> str:
    """Return the last line of a run of tests; a failure ends the program."""
    command = [str(python), "-m", "pytest", "-q", "--timeout", "900", "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *map(str, tests)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{python}: the members' own tests fail\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1].split(" in ")[0].strip("= ")


def row(one: Tried) -> str:
    """Return an interpreter's line of the page."""
    results = " | ".join(one.tests[name] for name in wheels.COMPILED)
    sizes = f"{one.ours / 1e6:.1f} | {one.everything / 1e6:.1f}"
    return f"| {one.version} | {one.seconds:.1f} | {sizes} | {results} | {one.downloaded / 1e6:.1f} | {sources()} |"


def sources() -> str:
    """Return the day and the state of the sources that a row was measured with."""
    command = ["git", "log", "-1", "--format=%h of %cs"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def kept(starts: tuple[str, ...], rows: list[str], before: str) -> list[str]:
    """Return the rows of a table, those of an earlier page included that none of these replaces.

    A wheel replaces one for the same interpreter, whatever the C library that each asks for.
    """
    earlier = [line for line in before.splitlines() if line.startswith(starts)]
    by_name = {line.split(" | ")[0].partition("-manylinux")[0]: line for line in [*earlier, *rows]}
    return [by_name[name] for name in sorted(by_name)]


def page(all_tried: list[Tried], house: Path, materials: Path, before: str) -> str:
    """Return the Markdown of the figures, with the rows of the page `before` that no new one replaces."""
    lines = [
        "# Packages",
        "",
        f"Written by `./hatchw run pkg:wheelhouse --write`: {platform.system()} on {platform.machine()}, "
        f"{platform.libc_ver()[0]} {platform.libc_ver()[1]}. Each wheel was installed into a fresh environment that reaches "
        "no compiler and ran a training step; compiled members ran their own tests.",
        "",
        "| CPython | `pip install mindtorch-full`, s | our members, MB | with numpy, scipy and ml_dtypes, MB "
        "| tests of mindtorch-cpu | tests of mindtorch-runtime | downloaded, MB | sources |",
        "| --- | ---: | ---: | ---: | --- | --- | ---: | --- |",
    ]
    lines += kept(("| 3.",), [row(one) for one in all_tried], before)
    lines += ["", "| File | MB |", "| --- | ---: |"]
    files = [file for file in house.iterdir() if file.suffix in (".whl", ".gz") or file == materials]
    lines += kept(("| mindtorch",), [f"| {file.name} | {file.stat().st_size / 1e6:.2f} |" for file in files], before)
    lines += [
        "",
        "A row is measured anew when its interpreter is at hand; the last column says of which sources it is. `twine check "
        "--strict` passed all files, `auditwheel show` the compiled wheels; `abi3audit` has nothing to check.",
        "",
        "Byte code is not counted. The modules are built for each version of CPython: they read the interpreter's own "
        "structures on the path of every call, which the stable ABI (`abi3`) does not offer.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="an interpreter; all that are found unless given")
    parser.add_argument("--folder", type=Path, default=ROOT / "wheelhouse")
    parser.add_argument("--built", action="store_true", help="try the wheels that are in the folder")
    parser.add_argument("--write", action="store_true", help="write docs/status/packages.md")
    options = parser.parse_args()
    found = workspace.load()
    pythons = {version_of(one): one for one in interpreters(options.python)}
    house = options.folder.resolve()
    all_tried = [Tried(version, there(version, house)) for version in pythons] if options.built else []
    if not options.built:
        shutil.rmtree(house, ignore_errors=True)
        made = sdists(found, house)
        all_tried = [
            Tried(version, [native(name, made[name], python, house) for name in wheels.COMPILED])
            for version, python in pythons.items()
        ]
    compiled = [wheel for one in all_tried for wheel in one.wheels]
    wheels.run("twine", "check", "--strict", *sorted(house.glob("*.whl")), *sorted(house.glob("*.tar.gz")))
    for wheel in compiled:
        wheels.run(sys.executable, "-m", "auditwheel", "show", wheel)
    wheels.portable(compiled)
    for one in all_tried:
        attempt(pythons[one.version], one, found, house)
    file = bill.write("mindtorch-full", house, house)
    if options.write:
        PAGE.write_text(page(all_tried, house, file, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wheelhouse: {len(list(house.iterdir()))} files in {house.name}, tried on {', '.join(pythons)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
