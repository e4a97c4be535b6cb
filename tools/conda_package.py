"""Build the conda package from its recipe and run the recipe's tests, without a conda channel.

    python tools/conda_package.py [--folder FOLDER]

Runs in the environment `conda` (`./hatchw run conda:check`). The recipe is `conda/mindtorch-full/recipe.yaml`. What it asks for
comes from a channel that is made here: the interpreter is this one, copied; a requirement from PyPI is its wheel,
unpacked; the compiler is the machine's own. So the recipe's requirements, script and tests are tried; that the packages
of a public channel work in their place is not.

FOLDER (default: build/conda) keeps the channel and the package. The exit status is 1 when the build or a test fails.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import rattler.index
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, ToolConfiguration, VariantConfig, assemble_package

import members as workspace

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "conda" / "mindtorch-full" / "recipe.yaml"
PLATFORM = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}[os.uname().machine]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
WHEELS = ("hatchling", "scikit-build-core>=1.1,<2", "numpy>=2.0,<3", "ml_dtypes>=0.4,<1", "scipy>=1.11,<2")
MACHINE_TOOLS = {"cmake": ("cmake", "ctest", "cpack"), "ninja": ("ninja",)}
COMPILERS = {"gxx": ("g++", "c++"), "gcc": ("gcc", "cc")}


def make_package(name: str, version: str, files: Path, channel: Path, depends: list[str]) -> None:
    """Put a folder into the channel as a conda package."""
    folder = channel / PLATFORM
    folder.mkdir(parents=True, exist_ok=True)
    assemble_package(
        name, version, PLATFORM, "0", folder, files_dir=files, depends=depends, compression_level=1, license="unknown"
    )


def copy_interpreter(folder: Path) -> None:
    """This interpreter with its standard library and pip; it finds both beside its own file, wherever that is."""
    base = Path(sys.base_prefix)
    library = f"lib/python{PYTHON}"
    left_out = shutil.ignore_patterns("site-packages", "test", "__pycache__", "idlelib", "tkinter", "config-*")
    shutil.copytree(base / library, folder / library, ignore=left_out, symlinks=False)
    packages = folder / library / "site-packages"
    packages.mkdir()
    (folder / "bin").mkdir()
    shutil.copy2(base / "bin" / f"python{PYTHON}", folder / "bin" / f"python{PYTHON}")
    for name in ("python", "python3"):
        (folder / "bin" / name).symlink_to(f"python{PYTHON}")
    shared = sysconfig.get_config_var("INSTSONAME")
    if shared and (base / "lib" / shared).is_file():
        shutil.copy2(base / "lib" / shared, folder / "lib" / shared)
    shutil.copytree(base / "include" / f"python{PYTHON}", folder / "include" / f"python{PYTHON}")


def link_tools(folder: Path, tools: dict[str, str]) -> None:
    """Scripts in `bin/` that run the machine's own tools."""
    (folder / "bin").mkdir(parents=True)
    for name, target in tools.items():
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
        script.chmod(0o755)


def find_tool(name: str) -> str:
    """Where the machine has a tool."""
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"conda_package: this machine has no {name}")
    return found


def unpack_wheel(wheel: Path, folder: Path) -> tuple[str, str, list[str]]:
    """A wheel's files where conda has them; its name, its version and what it depends on."""
    packages = folder / "lib" / f"python{PYTHON}" / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    depends = [f"python {PYTHON}.*"]
    for text in metadata.get_all("Requires-Dist") or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            depends.append(f"{conda_name(requirement.name)} {requirement.specifier}".strip())
    return conda_name(metadata["Name"]), metadata["Version"], depends


def conda_name(name: str) -> str:
    """Conda's name of a distribution; ml_dtypes keeps the underscore there."""
    name = canonicalize_name(name)
    return "ml_dtypes" if name == "ml-dtypes" else name


def make_channel(folder: Path) -> Path:
    """A channel with what the recipe asks for."""
    channel, staged = folder / "channel", folder / "staged"
    for old in (channel, staged):
        shutil.rmtree(old, ignore_errors=True)
    copy_interpreter(staged / "python")
    make_package("python", sys.version.split()[0], staged / "python", channel, [])
    for name, tools in MACHINE_TOOLS.items():
        link_tools(staged / name, {tool: find_tool(tool) for tool in tools})
        make_package(name, "99", staged / name, channel, [])
    for name, (tool, alias) in COMPILERS.items():
        link_tools(staged / name, {tool: find_tool(tool), alias: find_tool(tool)})
        make_package(f"{name}_{PLATFORM}", "99", staged / name, channel, [])
    wheels = folder / "wheels"
    command = [sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "-d", str(wheels), "pip", *WHEELS]
    subprocess.run(command, check=True)
    for wheel in sorted(wheels.glob("*.whl")):
        target = staged / wheel.stem
        name, version, depends = unpack_wheel(wheel, target)
        make_package(name, version, target, channel, depends)
    (channel / "noarch").mkdir()
    asyncio.run(rattler.index.index_fs(channel, force=True))
    return channel


def main() -> int:
    """Make the channel, build the package, run its tests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "conda")
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    channel = make_channel(folder)
    versions = {name: member.version for name, member in workspace.load().items()}
    os.environ["MINDTORCH_VERSION"] = versions["mindtorch-full"]
    recipe = Stage0Recipe.from_file(RECIPE)
    variants = VariantConfig({"python": [f"{PYTHON}.*"], "cxx_compiler": ["gxx"]})
    (rendered,) = recipe.render(variants, RenderConfig(PlatformConfig(target_platform=PLATFORM)))
    result = rendered.run_build(
        ToolConfiguration(test_strategy="native"), output_dir=folder / "output", channels=[channel.as_uri()]
    )
    for package in result.packages:
        print(f"built and tested: {package} ({package.stat().st_size / 1e6:.1f} MB, {result.build_time:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
