"""What `importlib.metadata` says about `torch` while the proxy is on."""

import importlib.util
from importlib.metadata import Distribution
from os import PathLike
from pathlib import Path

from mindtorch_proxy.names import DISTRIBUTION, OURS, THEIRS, TORCH_VERSION

_FILES = {
    "METADATA": (
        "Metadata-Version: 2.1\n"
        f"Name: {THEIRS}\n"
        f"Version: {TORCH_VERSION}\n"
        f"Summary: The torch API provided by {DISTRIBUTION} through mindtorch-proxy\n"
        "Requires-Python: >=3.11\n"
    ),
    "top_level.txt": f"{THEIRS}\n",
    "INSTALLER": "mindtorch-proxy\n",
}


class TorchDistribution(Distribution):
    """The distribution `torch` that exists while the proxy is on.

    It has metadata and a top-level name. It has no RECORD, because no file of `torch` is on the disk, and therefore
    ``files`` is None; it requires nothing beyond what `mindtorch-full` itself requires.
    """

    def read_text(self, filename: str | PathLike[str]) -> str | None:
        """Return the text of one metadata file, None for those a distribution may lack."""
        return _FILES.get(str(filename))

    def locate_file(self, path: str | PathLike[str]) -> Path:
        """Return where ``path`` would lie: beside the package `mindtorch`."""
        spec = importlib.util.find_spec(OURS)
        if spec is None or not spec.origin:
            return Path(path)
        return Path(spec.origin).parent.parent / path

    @property
    def requires(self) -> list[str]:
        """The requirements, always none: `mindtorch-full` declares its own."""
        return []


def answers_for(name: str | None) -> bool:
    """Return whether a query for the distribution ``name`` (None: all) includes `torch`."""
    return name is None or name.lower().replace("_", "-") == THEIRS
