"""Lays out a tree of transformers' tests that pytest can run.

Two sources: the sdist on PyPI, which holds the common mixins but no model's tests (ours stand in for them), and a full
checkout named by `TRANSFORMERS_TESTS`, over whose tests the sdist's newer ones are laid. Either way the tree lives
outside the repository's tracked files; nothing of transformers is committed.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VERSION = "5.23.0"
MODELS = (
    "bert",
    "distilbert",
    "roberta",
    "gpt2",
    "llama",
    "t5",
    "bart",
    "vit",
    "clip",
    "whisper",
    "qwen2",
    "mistral",
    "gemma",
    "albert",
    "electra",
    "opt",
)
"""The models of the scoreboard; a full checkout has tests for many more."""

STAND_INS = ("httpx", "requests", "timeout_decorator")
"""Modules the tests import and do not need for the tests that run here, with a file in `standins` each."""

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = ROOT / ".hatch" / "transformers-tests"

_ACCELERATED = " with accelerate" if importlib.util.find_spec("accelerate") else ""
"""Where accelerate is installed other tests run: they are a source of their own."""


@dataclass(frozen=True)
class Tree:
    """A runnable tree: its root, what it was made from, and the test files of each model."""

    root: Path
    source: str
    files: dict[str, list[Path]]


def sdist() -> Path:
    """Return the sdist, downloaded once."""
    archive = CACHE / f"transformers-{VERSION}.tar.gz"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:  # another shard never reads half of it
            subprocess.run([*command, "--dest", folder, f"transformers=={VERSION}"], check=True)
            (Path(folder) / archive.name).replace(archive)
    return archive


def _lay_sdist_tests(tests: Path) -> None:
    prefix = f"transformers-{VERSION}/tests/"
    with tarfile.open(sdist()) as archive:
        for member in archive.getmembers():
            name = member.name.removeprefix(prefix)
            if member.isfile() and member.name.startswith(prefix) and "/" not in name and name.endswith(".py"):
                content = archive.extractfile(member)
                if content is not None:
                    (tests / name).write_bytes(content.read())


def _package(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()
    return folder


def _stand_in(name: str, place: Path) -> None:
    _package(place.parent)
    shutil.copyfile(HERE / "standins" / f"{name}.py", place)


def _finish(root: Path) -> None:
    (root / "pytest.ini").write_text("[pytest]\n")
    # The tests look for the library's sources beside them.
    library = importlib.util.find_spec("transformers")
    if library is None or library.origin is None:
        raise RuntimeError("transformers is not installed")
    link = root / "src" / "transformers"
    link.parent.mkdir()
    link.symlink_to(Path(library.origin).parent)
    for name in STAND_INS:
        if importlib.util.find_spec(name) is None:
            shutil.copyfile(HERE / "standins" / f"{name}.py", root / f"{name}.py")


def sdist_tree() -> Tree:
    """Return the tree of the sdist's mixins with our own testers for each model."""
    root = CACHE / "sdist"
    shutil.rmtree(root, ignore_errors=True)
    tests = _package(root / "tests")
    _lay_sdist_tests(tests)
    _stand_in("export_mixins", tests / "exporters" / "test_export.py")
    _stand_in("generation_mixin", tests / "generation" / "test_utils.py")
    _stand_in("configuration_kwargs", tests / "utils" / "test_configuration_utils.py")
    ours = _package(tests / "ours")
    for source in sorted((HERE / "ours").glob("*.py")):
        # Here they must not look like tests of this repository; there they must look like tests.
        shutil.copyfile(source, ours / (f"test_{source.name}" if source.stem in MODELS else source.name))
    _finish(root)
    return Tree(root, f"sdist{_ACCELERATED}", {model: [ours / f"test_{model}.py"] for model in MODELS})


def suites(given: Path) -> list[str]:
    """Return the folders of a full checkout that have tests of models."""
    return sorted({path.parent.name for path in (given / "models").glob("*/test_modeling_*.py")})


def checkout_tree(given: Path, models: Sequence[str] = MODELS, every: bool = False, name: str = "checkout") -> Tree:
    """Return the tree of a full checkout's tests of `models`, with the sdist's common tests laid over them.

    A folder's tests are those of the file that has its name or, where `every` is given, of every file. Trees that exist at the
    same time have names of their own.
    """
    root = CACHE / name
    shutil.rmtree(root, ignore_errors=True)
    tests = _package(root / "tests")
    for source in sorted(given.glob("*.py")):
        shutil.copyfile(source, tests / source.name)
    wanted = ("generation", "utils", "fixtures", *(f"models/{model}" for model in models))
    for folder in wanted:
        if (given / folder).is_dir():
            shutil.copytree(given / folder, tests / folder)
    _package(tests / "models")
    modules = given.parent / "utils" / "test_module"
    if modules.is_dir():
        shutil.copytree(modules, root / "utils" / "test_module")
    else:
        _stand_in("configuration_kwargs", tests / "utils" / "test_configuration_utils.py")
    _lay_sdist_tests(tests)
    _stand_in("export_mixins", tests / "exporters" / "test_export.py")
    for mixin in ("fsdp", "tensor_parallel"):
        _stand_in("distributed_mixins", tests / f"test_{mixin}_mixin.py")
    _finish(root)
    pattern = "test_modeling_*.py" if every else "test_modeling_{}.py"
    files = {model: sorted((tests / "models" / model).glob(pattern.format(model))) for model in models}
    missing = [model for model, paths in files.items() if not paths]
    if missing:
        raise FileNotFoundError(f"{given} has no tests of {', '.join(missing)}")
    return Tree(root, f"checkout{_ACCELERATED}", files)
