"""Finds PyTorch's tests and the infrastructure they stand on. Both lie outside of what git tracks.

The tests are those of Debian's source package `pytorch`, or of any folder that `PYTORCH_TESTS` names. What they import
as `torch.testing._internal`, and the package `torchgen`, are copied from an installed torch 2.13.0; nothing else of it is.
Some tests import names that 2.13.0 has there no more: for those, `torch.testing._internal` of the tests' own release comes
first, on both sides. `stand_ins/` has what takes the place of modules that import a compiler's parts, on both sides too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".hatch" / "pytorch-tests"
PACKAGE = "pytorch=2.6.0+dfsg-7"
TORCH = "2.13.0"
_WHERE = "import importlib.util, json; print(json.dumps([importlib.util.find_spec(n).origin for n in ('torch', 'torchgen')]))"


OWN_RELEASE = frozenset(
    "functorch/test_ops.py functorch/test_vmap.py nn/test_convolution.py test_binary_ufuncs.py test_decomp.py"
    " test_expanded_weights.py test_fx_experimental.py test_linalg.py test_meta.py test_nestedtensor.py test_nn.py test_ops.py"
    " test_ops_gradients.py test_proxy_tensor.py test_torch.py".split()
)
"""Files that import, or read samples, with the infrastructure of their own release alone."""
GONE = {
    "fx/test_matcher_utils.py": "torch.export.export_for_training",
    "functorch/test_control_flow.py": "functorch.experimental.control_flow.UnsupportedAliasMutationException",
    "test_dynamic_shapes.py": "torch.fx.experimental.symbolic_shapes.hint_int",
    "test_fx.py": "torch.export.export_for_training",
    "test_nestedtensor.py": "torch.nn.attention.flex_attention.create_nested_block_mask",
    "test_python_dispatch.py": "torch._custom_op.functional.register_functional_op",
    "test_utils.py": "torch.autograd._functions.utils.check_onnx_broadcast",
}
"""Files that import what torch 2.13.0 has no more. Their tests of it fail on torch itself, and are not on the board."""
WITH_STAND_INS = frozenset(("test_fake_tensor.py",))
"""Files that take flags from a module that imports generators of code: `stand_ins/` has the flags, on both sides."""
SAMPLES = {
    "functorch/test_ops.py": 300,
    "functorch/test_vmap.py": 500,
    "nn/test_convolution.py": 200,
    "test_binary_ufuncs.py": 900,
    "test_decomp.py": 300,
    "test_foreach.py": 200,
    "test_linalg.py": 600,
    "test_meta.py": 600,
    "test_modules.py": 250,
    "test_nn.py": 900,
    "test_ops.py": 900,
    "test_ops_fwd_gradients.py": 250,
    "test_ops_gradients.py": 400,
    "test_reductions.py": 900,
    "test_schema_check.py": 600,
    "test_sparse.py": 500,
    "test_sparse_csr.py": 500,
    "test_transformers.py": 150,
    "test_unary_ufuncs.py": 1000,
    "test_utils.py": 1000,
}
"""Files of so many thousand tests that the board has a sample of them: so many ids, those whose SHA-256 is smallest.

Of these, what torch itself skips or fails is left out as everywhere. A whole run of such a file is one of the sample.
"""
SHARDS = {
    "functorch/test_ops.py": "1/2",
    "functorch/test_vmap.py": "1/2",
    "test_decomp.py": "1/30",
    "test_ops.py": "1/3",
    "test_ops_fwd_gradients.py": "1/2",
    "test_ops_gradients.py": "1/3",
    "test_schema_check.py": "1/2",
}
"""Of these samples, the board has a part: what `baseline FILE --shard` recorded. The other parts are added the same way."""
_NEWER = tuple(f"torch/testing/_internal/{name}.py" for name in ("common_quantization", "common_quantized"))
"""What is always 2.13.0's: those of the tests' release fail at import on it."""


def tests() -> Path | None:
    """Return the folder `test` of the sources, None where there is none."""
    for folder in (os.environ.get("PYTORCH_TESTS"), str(CACHE / "source" / "test")):
        if folder and (Path(folder) / "test_torch.py").exists():
            return Path(folder).resolve()
    return None


def infrastructure() -> Path | None:
    """Return the folder with `torch/testing/_internal`, None where there is none."""
    for folder in (os.environ.get("PYTORCH_INFRASTRUCTURE"), str(CACHE / "infrastructure")):
        if folder and (Path(folder) / "torch" / "testing" / "_internal").is_dir():
            return Path(folder).resolve()
    return None


def internals(name: str) -> list[Path]:
    """Return the folders that `torch.testing._internal` is made of for a test file, the first one first."""
    own, newer = tests(), infrastructure()
    stand_ins = [HERE / "stand_ins"] if name.startswith("distributed/") or name in WITH_STAND_INS else []
    roots = [own.parent if own is not None and name in OWN_RELEASE else None, newer]
    return stand_ins + [root / "torch" / "testing" / "_internal" for root in roots if root is not None]


def missing() -> str:
    """Return why the tests cannot run here, an empty text where they can."""
    if tests() is None or infrastructure() is None:
        return "PyTorch's tests are not here: `.ci/run pytorch` fetches them where the package sources can be reached"
    lacking = [name for name in ("expecttest", "hypothesis", "psutil") if importlib.util.find_spec(name) is None]
    return f"PyTorch's tests need {', '.join(lacking)}, not installed here" if lacking else ""


def fetch(torch_python: str | None) -> None:
    """Bring the tests here, and with the interpreter of an environment that has torch, what they stand on."""
    CACHE.mkdir(parents=True, exist_ok=True)
    if tests() is None:
        _unpack(_download())
    if infrastructure() is None:
        _copy_infrastructure(torch_python or sys.executable)


def _apt_sources() -> str:
    """Return the machine's package sources of Debian, asked for sources of the releases that have the package."""
    kept = []
    for file in sorted(Path("/etc/apt/sources.list.d").glob("*.sources")):
        for block in file.read_text().split("\n\n"):
            fields = [line for line in block.splitlines() if not line.startswith("#")]
            suites = next((line for line in fields if line.startswith("Suites:")), "")
            if "security" in suites or not any("debian" in line for line in fields):
                continue
            kept.append("\n".join(_as_sources(line) for line in fields))
    if not kept:
        raise RuntimeError("no package sources of Debian are set up here; name the folder `test` in PYTORCH_TESTS")
    return "\n\n".join(kept) + "\n"


def _as_sources(line: str) -> str:
    if line.startswith("Types:"):
        return "Types: deb-src"
    return "Suites: trixie" if line.startswith("Suites:") else line


def _download() -> Path:
    """Download the source package with a configuration of its own, so that the machine's stays as it is."""
    home = CACHE / "apt"
    for folder in ("lists/partial", "archives/partial"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    listed = home / "debian.sources"
    listed.write_text(_apt_sources())
    options = [
        f"-oDir::Etc::sourcelist={listed}",
        "-oDir::Etc::sourceparts=/dev/null",
        f"-oDir::State::lists={home / 'lists'}",
        f"-oDir::Cache::archives={home / 'archives'}",
    ]
    subprocess.run(["apt-get", *options, "-q", "update"], cwd=home, check=True)
    subprocess.run(["apt-get", *options, "-q", "source", "--download-only", PACKAGE], cwd=home, check=True)
    return next(home.glob("pytorch_*.orig.tar.*"))


def _unpack(archive: Path) -> None:
    """Unpack the tests, and the tables of operators that some of them read."""
    target = CACHE / "source"
    wanted = (
        "test/",
        "torch/testing/_internal/",
        "aten/src/ATen/native/native_functions.yaml",
        "aten/src/ATen/native/tags.yaml",
        "tools/autograd/",
    )
    with tarfile.open(archive) as held:
        for member in held:
            member.name = member.name.partition("/")[2]
            if member.name.startswith(wanted) and member.name not in _NEWER:
                held.extract(member, target, filter="data")


def _copy_infrastructure(python: str) -> None:
    found = subprocess.run([python, "-c", _WHERE], capture_output=True, text=True)
    if found.returncode:
        raise RuntimeError(f"there is no torch beside {python}; name an interpreter that has {TORCH} with --torch")
    torch, torchgen = (Path(origin).parent for origin in json.loads(found.stdout))
    if not (torch / "version.py").read_text().count(TORCH):
        raise RuntimeError(f"the torch beside {python} is another release than {TORCH}")
    target = CACHE / "infrastructure"
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(torch / "testing" / "_internal", target / "torch" / "testing" / "_internal", ignore=skipped)
    shutil.copytree(torchgen, target / "torchgen", ignore=skipped)
