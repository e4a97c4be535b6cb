"""`python tests-integration/architectures [--write]`: sixteen architectures on torch and on MindTorch, compared.

Both sides run in this environment, one after the other; nothing of torch's results is kept. --write makes
docs/status/architectures.md of them.
"""

from __future__ import annotations

import sys

from comparison import PAGE, compare, page


def main() -> int:
    """Run the command; return 1 when an architecture differs."""
    rows = compare()
    text = page(rows)
    print(text)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
