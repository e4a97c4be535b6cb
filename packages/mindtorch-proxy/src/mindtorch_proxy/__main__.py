"""`python -m mindtorch_proxy enable-site|disable-site|status`: the opt-in `.pth` file of the running environment."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mindtorch_proxy.real_torch import find_real_torch
from mindtorch_proxy.site_file import disable, enable, site_file
from mindtorch_proxy.switch import is_installed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 1 when the file cannot be written or removed."""
    parser = argparse.ArgumentParser(prog="python -m mindtorch_proxy", description=__doc__)
    parser.add_argument("command", choices=["enable-site", "disable-site", "status"])
    parser.add_argument("--directory", type=Path, help="the site-packages directory (default: the environment's own)")
    options = parser.parse_args(arguments)
    try:
        _COMMANDS[options.command](options.directory)
    except OSError as error:
        print(f"mindtorch_proxy: {error}", file=sys.stderr)
        return 1
    return 0


def _enable(directory: Path | None) -> None:
    print(f"wrote {enable(directory)}")
    print("`import torch` is MindTorch in this environment when MINDTORCH=1, or when no real torch is installed;")
    print("MINDTORCH=0 turns it off. `python -m mindtorch_proxy disable-site` removes the file.")


def _disable(directory: Path | None) -> None:
    removed = disable(directory)
    print(f"removed {removed}" if removed else f"not enabled: no {site_file(directory)}")


def _status(directory: Path | None) -> None:
    path = site_file(directory)
    real = find_real_torch()
    print(f"site file:  {path if path.exists() else 'not enabled'}")
    print(f"proxy:      {'on' if is_installed() else 'off'} in this process")
    print(f"real torch: {real.origin if real else 'not importable'}")


_COMMANDS = {"enable-site": _enable, "disable-site": _disable, "status": _status}

if __name__ == "__main__":
    sys.exit(main())
