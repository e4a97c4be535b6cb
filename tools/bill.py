"""Write what an installation of a member holds: names, versions, licences and sources of everything that comes along.

    python tools/bill.py MEMBER [--from dist] [--output bill]

MEMBER is installed into a fresh environment, our members from the wheels in `--from` where they fit, everything else from
the index. OUTPUT/MEMBER.cdx.json is the bill of materials, in CycloneDX. Runs in the environment `pkg`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import members as workspace
import wheels
from members import ROOT


def write(member: str, house: Path, folder: Path) -> Path:
    """Write the bill of a member that is installed from the wheels of `house`, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{member}.cdx.json"
    with tempfile.TemporaryDirectory() as temporary:
        environment = Path(temporary) / "env"
        wheels.run(sys.executable, "-m", "venv", "--without-pip", environment)
        inside = environment / "bin" / "python"
        wheels.run(*wheels.PIP, "--python", inside, "install", "--quiet", "--find-links", house, member)
        wheels.run("cyclonedx-py", "environment", "--output-reproducible", "-o", file, inside)
    return file


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("member", choices=sorted(workspace.load()))
    parser.add_argument("--from", dest="house", type=Path, default=ROOT / "dist", help="a folder of wheels")
    parser.add_argument("--output", type=Path, default=ROOT / "bill")
    options = parser.parse_args()
    file = write(options.member, options.house.resolve(), options.output.resolve())
    print(f"bill: {file.name}, {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
