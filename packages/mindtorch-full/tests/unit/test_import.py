"""What `import mindtorch` does not import: each of these costs as much time as all of MindTorch."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
import mindtorch
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_import_leaves_heavy_packages_alone() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    assert "numpy" in loaded
    for name in ("scipy", "torch", "transformers", "safetensors", "rich", "pytest", "multiprocessing", "asyncio"):
        assert name not in loaded, f"{name} is imported by `import mindtorch`"
