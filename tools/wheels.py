"""Build the members and try their wheels as users would: with nothing else from this repository in sight.

    python tools/wheels.py check          build sdist and wheel of each member into dist/, inspect them
    python tools/wheels.py compat         install the combinations users install, import what must be there
    python tools/wheels.py alone MEMBER   the wheel, its declared dependencies, its own tests
    python tools/wheels.py own MEMBER     its own tests in this environment, where it is installed
    python tools/wheels.py portable FILE  released wheels of compiled members: what they may hold and how they are named

Runs in the environment `pkg` (`./hatchw run pkg:check`), where no member is installed.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import members as workspace
from members import ROOT, Member

COMPILED = {"mindtorch-cpu": "numpy kernels are used", "mindtorch-runtime": "calls run in Python"}
"""Members with a native module, and what their build says where it cannot be made."""


def demand(name: str) -> str:
    """The variable that makes a build of a compiled member without its module an error."""
    return name.upper().replace("-", "_") + "_REQUIRE"


def native_smoke(name: str) -> str:
    """A program that fails where the module was demanded of the build and is not there."""
    return (
        f"import os; from {name.replace('-', '_')} import native; "
        f"assert native.module or os.environ.get({demand(name)!r}) != '1', 'the native module is missing'"
    )


PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
SMOKE = {
    "mindtorch-storage": "import mindtorch_storage",
    "mindtorch-dispatch": "import mindtorch_dispatch",
    "mindtorch-autograd": "import mindtorch_autograd",
    **{name: native_smoke(name) for name in COMPILED},
    "mindtorch-distributed": "import mindtorch_distributed",
    "mindtorch-npu": "import mindtorch_npu",
    "mindtorch-proxy": "import mindtorch_proxy",
    "mindtorch-testing": "import mindtorch_testing",
    "mindtorch-full": (
        "import mindtorch as t; x = t.ones(2, requires_grad=True); (x * 3).sum().backward(); "
        "assert x.grad.tolist() == [3.0, 3.0]"
    ),
}

MADE = {"mindtorch-full": ["mindtorch/_operators/functions.pyi", "mindtorch/_operators/methods.pyi"]}
"""Files that the build makes: the stubs of tools/stubs.py."""

ABSENT = (
    "import importlib.util as u, sys; there = [n for n in sys.argv[1:] if u.find_spec(n)]; "
    "sys.exit(f'must not be installed: {there}' if there else 0)"
)


@dataclass(frozen=True)
class Combination:
    """What is installed together, and which siblings must come along (all others must stay out)."""

    title: str
    install: list[str]
    present: set[str]


def run(*command: object, **options: Any) -> None:
    """Run a command, showing it; a failure ends the program."""
    text = [str(c) for c in command]
    shown = " ".join([Path(text[0]).name, *text[1:]])
    print("$", shown if len(shown) < 160 else shown[:160] + " ...", flush=True)
    done = subprocess.run(text, **options)
    if done.returncode != 0:
        raise SystemExit(f"exit status {done.returncode}: {shown}")


def build(member: Member, destination: Path, *, source: Path | None = None) -> None:
    """A wheel of `member` (or of its folder elsewhere, `source`) with the build backend of this environment."""
    run(
        sys.executable,
        "-m",
        "build",
        "--quiet",
        "--no-isolation",
        "--wheel",
        "-o",
        destination,
        source or member.folder,
    )


def check(found: dict[str, Member]) -> None:
    """Build everything in isolation, sdist first and the wheel from it, and inspect the results."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    for member in found.values():
        run(sys.executable, "-m", "build", "--quiet", "-o", dist, member.folder)
    artefacts = sorted(dist.iterdir())
    run("twine", "check", "--strict", *artefacts)
    run("check-wheel-contents", *dist.glob("*.whl"))
    for member in found.values():
        stem = f"{member.name.replace('-', '_')}-{member.version}"
        inspect_wheel(member, next(dist.glob(f"{stem}-*.whl")))
        with tarfile.open(dist / f"{stem}.tar.gz") as archive:
            names = archive.getnames()
        if not any("/tests/" in n for n in names):
            raise SystemExit(f"{stem}.tar.gz: no tests in the source distribution")
    for name in COMPILED:
        check_fallback(found[name])
    print(f"check: {len(artefacts)} artefacts are fine")


def check_fallback(member: Member) -> None:
    """Without a compiler the compiled member is a pure wheel and says so, unless native code is asked for."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "-o"]
    environment = {**os.environ, "CXX": "false"}
    with tempfile.TemporaryDirectory() as folder:
        environment[demand(member.name)] = "0"
        done = subprocess.run([*command, folder, member.folder], env=environment, capture_output=True, text=True)
        made = [wheel.name for wheel in Path(folder).glob("*.whl")]
        if done.returncode or len(made) != 1 or not made[0].endswith("-py3-none-any.whl"):
            raise SystemExit(f"{member.name} without a compiler: no pure wheel ({made})\n{done.stdout}{done.stderr}")
        if COMPILED[member.name] not in done.stdout + done.stderr:
            raise SystemExit(f"{member.name} without a compiler: nothing is said about it")
        environment[demand(member.name)] = "1"
        if not subprocess.run([*command, folder, member.folder], env=environment, capture_output=True).returncode:
            raise SystemExit(f"{member.name}: {demand(member.name)}=1 does not refuse a build without a compiler")


def inspect_wheel(member: Member, wheel: Path) -> None:
    """Exactly one top-level package, typed, licensed, and nothing left out of the source tree."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {n.split("/")[0] for n in names if ".dist-info/" not in n}
    if tops != {member.import_name}:
        raise SystemExit(f"{wheel.name}: top-level names {sorted(tops)}, expected only {member.import_name}")
    if f"{member.import_name}/py.typed" not in names:
        raise SystemExit(f"{wheel.name}: py.typed is missing")
    if not any(n.endswith("LICENSE") and ".dist-info/" in n for n in names):
        raise SystemExit(f"{wheel.name}: the licence is missing")
    tracked = subprocess.run(["git", "ls-files"], cwd=member.source.parent, check=True, capture_output=True, text=True)
    wanted = {*tracked.stdout.split("\n"), *MADE.get(member.name, [])}
    if missing := wanted - {""} - set(names):
        raise SystemExit(f"{wheel.name}: left out {sorted(missing)[:5]}")


def third_party(wheelhouse: Path, found: dict[str, Member]) -> None:
    """Download what the members need from others."""
    needed = set()
    for member in found.values():
        wheel = next(wheelhouse.glob(f"{member.name.replace('-', '_')}-{member.version}-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
            lines = archive.read(metadata).decode().splitlines()
        requires = [x.removeprefix("Requires-Dist: ") for x in lines if x.startswith("Requires-Dist: ")]
        needed |= {r for r in requires if "extra ==" not in r and not r.startswith(workspace.PREFIX)}
    if needed:
        run(*PIP, "download", "--quiet", "--dest", wheelhouse, *sorted(needed))


def install(folder: Path, wheelhouse: Path, requirements: list[str]) -> Path:
    """A new environment with `requirements` from the wheelhouse alone; its interpreter."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(*PIP, "--python", python, "install", "--quiet", "--no-index", "--find-links", wheelhouse, *requirements)
    return python


def combinations(found: dict[str, Member], released: dict[str, str]) -> list[Combination]:
    """What users install: the whole, the NPU runtime alone, each member alone, L2's in pairs, one member held back."""
    full = workspace.closure("mindtorch-full", found)
    backend = workspace.closure("mindtorch-npu", found, "backend")
    result = [
        Combination("the meta-package", ["mindtorch-full"], full),
        Combination("the NPU backend", ["mindtorch-npu[backend]"], backend),
        Combination(
            "the meta-package with NPU",
            ["mindtorch-full[npu]"],
            full | workspace.closure("mindtorch-full", found, "npu") | backend,
        ),
    ]
    for name in found:
        if name != "mindtorch-full":
            result.append(Combination(f"{name} alone", [name], workspace.closure(name, found)))
    for pair in (["mindtorch-cpu", "mindtorch-runtime"], ["mindtorch-autograd", "mindtorch-runtime"]):
        result.append(Combination(" and ".join(pair), pair, set().union(*(workspace.closure(n, found) for n in pair))))
    for name, version in released.items():
        pin = f"{name}=={version}"
        brought = full | workspace.closure(name, found)
        result.append(Combination(f"the meta-package with {pin}", ["mindtorch-full", pin], brought))
    return result


def last_releases(found: dict[str, Member], wheelhouse: Path) -> dict[str, str]:
    """Build each member at its latest tag `<name>-v*` that differs from HEAD's version."""
    released = {}
    for member in found.values():
        listing = ["git", "tag", "--list", f"{member.name}-v*", "--sort=-v:refname"]
        listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        tags = [t for t in listed.split() if t.removeprefix(f"{member.name}-v") != member.version]
        if not tags:
            print(f"{member.name}: no earlier release to pin")
            continue
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "source.tar"
            inside = member.folder.relative_to(ROOT)
            run("git", "archive", "-o", archive, tags[0], "packages", cwd=ROOT)  # members may link to others' headers
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
            build(member, wheelhouse, source=Path(folder) / inside)
        released[member.name] = tags[0].removeprefix(f"{member.name}-v")
    return released


def compat(found: dict[str, Member]) -> None:
    """Install every combination into its own environment and look at what is and is not there."""
    with tempfile.TemporaryDirectory() as temporary:
        wheelhouse = Path(temporary) / "wheels"
        for member in found.values():
            build(member, wheelhouse)
        third_party(wheelhouse, found)
        released = last_releases(found, wheelhouse)
        for number, combination in enumerate(combinations(found, released)):
            print(f"--- {combination.title}", flush=True)
            folder = Path(temporary) / f"env{number}"
            python = install(folder, wheelhouse, combination.install)
            for name in sorted(combination.present):
                run(python, "-c", SMOKE[name], cwd=temporary)
            absent = [m.import_name for n, m in found.items() if n not in combination.present]
            run(python, "-c", ABSENT, *absent, cwd=temporary)
            shutil.rmtree(folder)
    print("compat: every combination works")


def portable(wheels: list[Path]) -> None:
    """Wheels for any distribution of Linux: tagged so, with the module inside, and no library of the system's."""
    if not wheels:
        raise SystemExit("portable: no wheels")
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        if "-manylinux_" not in wheel.name:
            raise SystemExit(f"{wheel.name}: not for any Linux")
        package = wheel.name.partition("-")[0]
        if not any(n.startswith(f"{package}/_native.") and n.endswith(".so") for n in names):
            raise SystemExit(f"{wheel.name}: the native module is missing")
        if copies := [n for n in names if ".libs/" in n]:
            raise SystemExit(f"{wheel.name}: holds copies of libraries, {copies}")
        print(f"portable: {wheel.name}")


def own_tests(member: Member, found: dict[str, Member], available: set[str]) -> list[Path]:
    """The test files of `member` that import none of the siblings outside `available`."""
    absent = {m.import_name for n, m in found.items() if n not in available}
    chosen = []
    for file in sorted((member.folder / "tests").rglob("test_*.py")):
        imported = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {a.name.split(".")[0] for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
        if beyond := imported & absent:
            print(f"left to test:run: {file.relative_to(ROOT)} (imports {', '.join(sorted(beyond))})")
        else:
            chosen.append(file)
    return chosen


def alone(member: Member, found: dict[str, Member]) -> None:
    """Install the member's wheel with its declared dependencies and run its own tests."""
    available = workspace.closure(member.name, found)
    with tempfile.TemporaryDirectory() as temporary:
        wheelhouse = Path(temporary) / "wheels"
        chosen = {n: found[n] for n in available}
        for sibling in chosen.values():
            build(sibling, wheelhouse)
        third_party(wheelhouse, chosen)
        run(*PIP, "download", "--quiet", "--dest", wheelhouse, "pytest~=9.0", "pytest-timeout~=2.4")
        python = install(Path(temporary) / "env", wheelhouse, [member.name, "pytest", "pytest-timeout"])
        run(python, "-c", SMOKE[member.name], cwd=temporary)
        run_own_tests(python, member, found)
    print(f"alone: {member.name} stands on what it declares")


def run_own_tests(python: Path | str, member: Member, found: dict[str, Member]) -> None:
    """Run the member's own tests with an interpreter that has it installed."""
    if tests := own_tests(member, found, workspace.closure(member.name, found)):
        run(python, "-m", "pytest", "-q", "--timeout", "900", "--rootdir", ROOT, *tests, cwd=ROOT)


def main(argv: list[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    commands.add_parser("compat")
    commands.add_parser("alone").add_argument("member")
    commands.add_parser("own").add_argument("member")
    commands.add_parser("portable").add_argument("wheels", nargs="*", type=Path)
    options = parser.parse_args(argv)
    found = workspace.load()
    if options.command == "portable":
        portable(options.wheels)
    elif options.command == "own":
        run_own_tests(sys.executable, found[options.member], found)
    elif options.command == "alone":
        alone(found[options.member], found)
    else:
        {"check": check, "compat": compat}[options.command](found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
