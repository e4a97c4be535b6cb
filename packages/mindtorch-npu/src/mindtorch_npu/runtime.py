"""What can be said of the Ascend devices of this host without initialising them."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from mindtorch_npu.acl import loader

DEVICES = Path("/dev")


@dataclass(frozen=True)
class DeviceNode:
    """A device file of the driver."""

    path: Path
    accessible: bool


def device_nodes(folder: Path = DEVICES) -> list[DeviceNode]:
    """Return the driver's devices by number; `/dev/davinci_manager` and its like are not devices."""
    numbered = ((re.fullmatch(r"davinci(\d+)", path.name), path) for path in folder.glob("davinci*"))
    found = sorted((int(match.group(1)), path) for match, path in numbered if match)
    return [DeviceNode(path, os.access(path, os.R_OK | os.W_OK)) for _, path in found]


def unavailable_reason(folder: Path = DEVICES) -> str | None:
    """Return why no device can be used, None when one may. Loads no vendor library."""
    nodes = device_nodes(folder)
    if not nodes:
        return f"no Ascend device: no {folder}/davinci<number>"
    if not any(node.accessible for node in nodes):
        return f"no permission to open {nodes[0].path}; ask for membership of its group"
    return loader.why_not()


def describe() -> str:
    """Return one line on the devices of this host."""
    nodes = device_nodes()
    reason = unavailable_reason()
    return f"{len(nodes)} device(s)" if reason is None else f"not available: {reason}"
