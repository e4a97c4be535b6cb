"""The tests in C++ are built and run: of loops for each set of instructions, and of the look-up, without the dispatcher."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = Path(__file__).resolve().parents[2] / "packages"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake, which builds the tests, is not installed")
@pytest.mark.parametrize(("member", "target"), [("mindtorch-cpu", "loop_tests"), ("mindtorch-runtime", "lookup_tests")])
def test_in_cpp(member: str, target: str, tmp_path: Path) -> None:
    source, build = ["-S", str(PACKAGES / member)], str(tmp_path)
    configure = ["cmake", *source, "-B", build, "-DMINDTORCH_TESTS=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (
        configure,
        ["cmake", "--build", build, "--target", target],
        ["ctest", "--test-dir", build, "--output-on-failure"],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
