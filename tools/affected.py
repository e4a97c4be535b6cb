"""Print, as JSON, the members that a change since BASE can affect: `python tools/affected.py origin/main`.

A change inside `packages/X/` affects X and everything that depends on X. Any other change affects all members, and so
does a BASE that git does not know (the first push of a branch).
"""

import argparse
import json
import subprocess
import sys

import members as workspace


def changed_files(base: str) -> list[str] | None:
    """Paths that differ between the merge base with `base` and HEAD; None when git does not know `base`."""
    command = ["git", "diff", "--name-only", f"{base}...HEAD"]
    result = subprocess.run(command, cwd=workspace.ROOT, capture_output=True, text=True)
    return result.stdout.split() if result.returncode == 0 else None


def affected(files: list[str] | None, members: dict[str, workspace.Member]) -> list[str]:
    """Names of the members to test, dependencies first; all of them when the files are not known."""
    if files is None:
        return in_order(set(members), members)
    folders = {m.folder.name: name for name, m in members.items()}
    touched = set()
    for file in files:
        parts = file.split("/")
        if parts[0] != "packages" or parts[1] not in folders:
            return in_order(set(members), members)
        touched.add(folders[parts[1]])
    dependents = {n for n in members if touched & reached(n, members)}
    return in_order(dependents, members)


def reached(name: str, members: dict[str, workspace.Member]) -> set[str]:
    """What `name` can stand on, its extras included."""
    found = workspace.closure(name, members)
    for extra in members[name].extras:
        found |= workspace.closure(name, members, extra)
    return found


def in_order(names: set[str], members: dict[str, workspace.Member]) -> list[str]:
    """Dependencies before dependents, which is also the order of releases."""
    return sorted(names, key=lambda n: (len(workspace.closure(n, members)), n))


def main(argv: list[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="commit or branch to compare with")
    options = parser.parse_args(argv)
    print(json.dumps(affected(changed_files(options.base), workspace.load())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
