"""The public names of torch that are missing: none but those of the board."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="oracle")

TOOL = Path(__file__).parents[4] / "tools" / "public_names.py"


@pytest.mark.slow
def test_no_name_went_missing() -> None:
    """`python tools/public_names.py write` shortens the board; nothing makes it longer."""
    done = subprocess.run([sys.executable, str(TOOL), "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
