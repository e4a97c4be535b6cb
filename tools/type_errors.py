"""Type errors may only become fewer.

    python tools/type_errors.py check     mypy over all packages; size_budget.toml has the errors a file may have
    python tools/type_errors.py record    write the figures as they are; `budgets.py since REF` refuses what grew

The settings are in pyproject.toml. Files that are not in the table `types` of size_budget.toml have no errors.
"""

import argparse
import re
import subprocess
import sys

import budgets

LINE = re.compile(r"(?P<file>[^:]+\.py):\d+: error: ")


def run_mypy() -> dict[str, list[str]]:
    """The error lines by file. Ends the program when mypy itself fails."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", "--no-pretty"]
    done = subprocess.run(command, cwd=budgets.ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(done.stdout + done.stderr)
    found: dict[str, list[str]] = {}
    for text in done.stdout.splitlines():
        if match := LINE.match(text):
            found.setdefault(match["file"], []).append(text)
    return found


def compare(found: dict[str, list[str]], allowed: dict[str, int]) -> list[str]:
    """What has to be repaired: the errors of files that have too many, and figures that are too large."""
    problems = []
    for file, texts in found.items():
        if len(texts) > allowed.get(file, 0):
            problems += [*texts, f"{file}: {len(texts)} type errors, {allowed.get(file, 0)} allowed"]
    for file, count in allowed.items():
        if len(found.get(file, ())) < count:
            problems.append(f'{budgets.EXCEPTIONS}: [types] "{file}" = {count} is more than needed; run record')
    return problems


def main(argv: list[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "record"])
    options = parser.parse_args(argv)
    found = run_mypy()
    file = budgets.ROOT / budgets.EXCEPTIONS
    exceptions = budgets.read_exceptions(file.read_text())
    if options.action == "record":
        exceptions["types"] = {name: len(texts) for name, texts in found.items()}
        file.write_text(budgets.write_exceptions(exceptions))
        return 0
    problems = compare(found, exceptions["types"])
    print("\n".join(problems) if problems else "types: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
