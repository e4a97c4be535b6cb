"""The wheels for aarch64: built by a cross compiler, tested with an emulated processor.

    python tools/aarch64.py [--folder FOLDER] [--write] [-- PYTEST-ARGUMENTS]

Runs in the environment `pkg` (`./hatchw run pkg:aarch64`): auditwheel names the wheels for the systems that they run on.

Needs Debian's apt (no root), cmake, `aarch64-linux-gnu-g++` (package g++-aarch64-linux-gnu) and `qemu-aarch64` (package
qemu-user). FOLDER (default: build/aarch64) keeps a Python for aarch64 with numpy; nothing outside it is written. Runs
their tests/unit (but slow tests, and those that compare with torch) unless told otherwise; the exit status is pytest's. It
is ten times slower than a processor, so the release builds its wheels on real ones; this is for looking into what fails there.
`--write` puts the counts, and the reasons of what was skipped, into docs/status/aarch64.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from importlib import metadata
from pathlib import Path

import members as workspace
import wheels

ROOT = Path(__file__).resolve().parent.parent
MEMBERS = [ROOT / "packages" / name for name in ("mindtorch-cpu", "mindtorch-runtime")]
PAGE = ROOT / "docs" / "status" / "aarch64.md"
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
DEBIAN = [
    f"python{VERSION}-minimal",
    f"libpython{VERSION}-minimal",
    f"libpython{VERSION}-stdlib",
    f"libpython{VERSION}-dev",
]
DEBIAN += ["libc6", "libgcc-s1", "libstdc++6", "libgomp1", "zlib1g", "libexpat1", "libffi8", "libssl3", "libbz2-1.0"]
DEBIAN += ["liblzma5", "libsqlite3-0", "libuuid1", "libcrypt1"]
WHEELS = ["numpy", "ml_dtypes", "scipy"]
PURE = ["pytest", "pluggy", "iniconfig", "packaging", "pygments", "typing_extensions"]


def run(*command: str | Path, **options: object) -> None:
    """Run a command; SystemExit with what it was when it fails."""
    done = subprocess.run([str(part) for part in command], check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"failed ({done.returncode}): {' '.join(str(part) for part in command)}")


def fetch_python(folder: Path) -> Path:
    """Return the root of Debian's Python for aarch64, unpacked below `folder`."""
    root = folder / "root"
    if (root / "usr/bin" / f"python{VERSION}").exists():
        return root
    downloads, state = folder / "debian", folder / "apt"
    for place in (downloads, state / "lists/partial", state / "cache/archives/partial"):
        place.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = ["APT::Architecture=arm64", "APT::Architectures=arm64", "APT::Sandbox::User="]
    options += [
        f"Dir::State::Lists={state / 'lists'}",
        f"Dir::Cache={state / 'cache'}",
        f"Dir::State::status={state / 'status'}",
    ]
    apt = ["apt-get", "-qq", *(part for option in options for part in ("-o", option))]
    run(*apt, "update")
    run(*apt, "download", *DEBIAN, cwd=downloads)
    for package in sorted(downloads.glob("*.deb")):
        run("dpkg", "-x", package, root)
    return root


def fetch_packages(folder: Path) -> Path:
    """Return a folder with numpy's wheels for aarch64, in this environment's versions, and pytest."""
    site = folder / "site"
    if site.exists():
        return site
    platforms = [f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 17)] + ["manylinux2014_aarch64"]
    here = {one.metadata["Name"].lower().replace("-", "_"): one.version for one in metadata.distributions()}
    wanted = [f"{name}=={here[name]}" if name in here else name for name in WHEELS + PURE]
    tags = [part for platform in platforms for part in ("--platform", platform)]
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:", "--python-version", VERSION, *tags,
        "--target", site, *wanted)  # fmt: skip
    return site


def build(folder: Path, root: Path, site: Path) -> list[Path]:
    """Return the wheels of the members that have native modules."""
    house = folder / "wheels"
    shutil.rmtree(house, ignore_errors=True)
    asked = folder / "asked"
    # CMake starts this machine's Python by it, with questions about the Python that the module is for.
    asked.write_text(
        f"#!/bin/sh\nshift\nPYTHONHOME={root / 'usr'} PYTHONPATH={site} "
        f'exec {EMULATOR} -L {root} {root}/usr/bin/python{VERSION} "$@"\n'
    )
    asked.chmod(0o755)
    return [build_member(member, house, root, site, asked) for member in MEMBERS]


def build_member(member: Path, house: Path, root: Path, site: Path, asked: Path) -> Path:
    """Return the wheel of one of them."""
    include = root / "usr/include"
    settings = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": COMPILER,
        "CMAKE_CXX_FLAGS": f"-I{include}",
        "CMAKE_CROSSCOMPILING_EMULATOR": asked,
        "Python_INCLUDE_DIR": include / f"python{VERSION}",
        "Python_NumPy_INCLUDE_DIR": site / "numpy/_core/include",
    }
    environment = {
        **os.environ,
        wheels.demand(member.name): "1",
        "CMAKE_ARGS": " ".join(f"-D{name}={value}" for name, value in settings.items()),
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{VERSION.replace('.', '')}-aarch64-linux-gnu.so",
    }
    environment.pop("MINDTORCH_NATIVE_CACHE", None)  # its modules are this machine's
    with tempfile.TemporaryDirectory() as temporary:
        run(sys.executable, "-m", "build", "--quiet", "--wheel", "-o", temporary, member, env=environment)
        (made,) = Path(temporary).glob("*.whl")
        repair = [sys.executable, "-m", "auditwheel", "repair", "--exclude", "libgomp.so.1", "-w", house, made]
        run(*repair, stderr=subprocess.DEVNULL)
    return next(house.glob(f"{member.name.replace('-', '_')}-*.whl"))


def unpack(folder: Path, built: list[Path]) -> Path:
    """Return a folder with what the wheels install."""
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    for wheel in built:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(package)
    return package


def unit_tests() -> list[Path]:
    """Return the unit tests of the members that need nothing which is not at hand here, as torch."""
    found = workspace.load()
    here = set(found) - {"mindtorch-testing"}  # it needs torch
    ours = [path for member in MEMBERS for path in wheels.own_tests(found[member.name], found, here)]
    return [path for path in ours if "unit" in path.parts]


def write_start(folder: Path, root: Path) -> tuple[Path, Path]:
    """Return a program that starts the emulated Python, and a folder whose module makes it `sys.executable`.

    The system can't start a program of another processor by itself, so that a test which starts one gets the emulator.
    """
    start = folder / "start"
    start.mkdir(exist_ok=True)
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec {EMULATOR} -L {root} {root}/usr/bin/python{VERSION} "$@"\n')
    program.chmod(0o755)
    (start / "sitecustomize.py").write_text(f"import sys\n\nsys.executable = {str(program)!r}\n")
    return program, start


def first_line(*command: str) -> str:
    """Return the first line of what a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def page(results: Path, built: list[Path]) -> str:
    """Return the page of docs/status, from pytest's report and the wheels."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    skipped = Counter(reason.get("message", "") for case in cases for reason in case.iter("skipped"))
    failed = [
        f"{case.get('classname')}.{case.get('name')}"
        for case in cases
        if any(part.tag in ("failure", "error") for part in case)
    ]
    lines = [
        "# Native code on aarch64",
        "",
        f"Written on {datetime.date.today()} by `./hatchw run pkg:aarch64 --write`; do not edit.",
        f"What the wheels install, built by {first_line(COMPILER, '--version')},",
        f"under {first_line(EMULATOR, '--version')}. No aarch64 processor was at hand.",
        "",
        "| wheel | MB |",
        "| --- | ---: |",
        *(f"| {wheel.name} | {wheel.stat().st_size / 1e6:.2f} |" for wheel in built),
        "",
        "| tests | passed | failed | skipped |",
        "| ---: | ---: | ---: | ---: |",
        f"| {len(cases)} | {len(cases) - len(failed) - skipped.total()} | {len(failed)} | {skipped.total()} |",
        "",
        *(f"- failed: `{name}`" for name in failed),
        *(f"- skipped, {count}: {reason}" for reason, count in skipped.most_common()),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fetch, build, test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "aarch64")
    parser.add_argument("--write", action="store_true", help="write the page of docs/status")
    parser.add_argument("arguments", nargs="*", help="for pytest; default: the unit tests of both")
    options = parser.parse_args()
    missing = [name for name in (COMPILER, EMULATOR, "apt-get", "dpkg", "cmake", "ninja") if shutil.which(name) is None]
    if missing:
        raise SystemExit(f"not found: {', '.join(missing)}; see the first lines of {Path(__file__).name}")
    folder = options.folder.resolve()
    root, site = fetch_python(folder), fetch_packages(folder)
    built = build(folder, root, site)
    package = unpack(folder, built)
    program, start = write_start(folder, root)
    others = [path for path in sorted(ROOT.glob("packages/*/src")) if path.parent not in MEMBERS]
    sources = [start, package, *others, site]
    environment = {
        **os.environ,
        "PYTHONHOME": str(root / "usr"),
        "PYTHONPATH": os.pathsep.join(str(path) for path in sources),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CPATH": str(root / "usr/include"),  # for tests that compile
    }
    there = "; ".join(wheels.native_smoke(member.name) for member in MEMBERS)
    demands = {wheels.demand(member.name): "1" for member in MEMBERS}
    run(program, "-c", there, env=environment | demands)
    tests = options.arguments or ["-q", "-m", "not slow", *map(str, unit_tests())]
    results = folder / "results.xml"
    done = subprocess.run(
        [program, "-m", "pytest", "-p", "no:cacheprovider", f"--junit-xml={results}", *tests],
        env=environment,
        check=False,
    )
    if options.write:
        PAGE.write_text(page(results, built))
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
