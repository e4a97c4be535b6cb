"""The two spellings of a module name, and which names the proxy owns.

Nothing here imports anything: the proxy knows MindTorch by name only.
"""

import sys

OURS = "mindtorch"
THEIRS = "torch"

TORCH_VERSION = "2.13.0"
"""The release of torch whose interface MindTorch offers; `importlib.metadata.version("torch")` answers with it."""

DISTRIBUTION = "mindtorch-full"
"""The distribution that carries the package `mindtorch`."""


def is_torch_name(name: str) -> bool:
    """Return whether ``name`` is `torch` or below it; `torchvision` and `torch_npu` are not."""
    return name == THEIRS or name.startswith(THEIRS + ".")


def is_mindtorch_name(name: str) -> bool:
    """Return whether ``name`` is `mindtorch` or below it; `mindtorch_cpu` is not."""
    return name == OURS or name.startswith(OURS + ".")


def to_mindtorch(name: str) -> str:
    """Return our name of the module users call ``name``: `torch.nn` is `mindtorch.nn`."""
    return OURS + name[len(THEIRS) :]


def to_torch(name: str) -> str:
    """Return the name under which users know our module ``name``: `mindtorch.nn` is `torch.nn`."""
    return THEIRS + name[len(OURS) :]


def torch_entries() -> dict[str, object]:
    """Return the entries of ``sys.modules`` for `torch` and below, in their order."""
    # The first test alone settles all but a few of the thousands of names, without a call.
    return {
        name: module for name, module in sys.modules.copy().items() if name.startswith(THEIRS) and is_torch_name(name)
    }
