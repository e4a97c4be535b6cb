"""Makes the stubs of what is bound from the op table before a distribution is built (tools/stubs.py, docs/decisions/0006).

In a checkout they are made in the source tree, which git ignores; a source distribution has them, and wheels made of it too.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Stubs(BuildHookInterface):
    """The build hook of mindtorch-full."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the stubs where the table is: in a checkout."""
        root = Path(self.root)
        tool = root.parents[1] / "tools" / "stubs.py"
        if (root / "PKG-INFO").exists() or not tool.exists():
            return
        command = [sys.executable, str(tool), "write", str(root / "src" / "mindtorch" / "_operators")]
        subprocess.run(command, check=True, env={**os.environ, "MINDTORCH_NATIVE": "0"})
