"""The README's example runs with this package and the one below it alone."""

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
LAYERS = [PACKAGE / "src", PACKAGE.parent / "mindtorch-storage" / "src"]
EXPECTED = """\
mix3  [111. 112.]
cpu   [ 5. 10.]
meta  meta
above [3. 6.]
"""
GUARD = """
import sys
loaded = {name.partition(".")[0] for name in sys.modules if name.startswith("mindtorch")}
assert loaded == {"mindtorch_dispatch", "mindtorch_storage"}, loaded
"""


def example() -> str:
    found = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.S)
    assert len(found) == 1
    return found[0]


def run(code: str) -> subprocess.CompletedProcess[str]:
    paths = f"import sys; sys.path[:0] = {[str(path) for path in LAYERS]!r}\n"
    return subprocess.run(
        [sys.executable, "-E", "-c", paths + code], capture_output=True, text=True, check=False, cwd=PACKAGE
    )


def test_the_example_prints_what_it_should():
    done = run(example() + GUARD)
    assert (done.stdout, done.stderr) == (EXPECTED, "")


def test_the_example_is_about_forty_lines():
    lines = [line for line in example().splitlines() if line.strip()]
    assert 25 <= len(lines) <= 45
