"""What the vendor's return codes mean.

The table `error_codes.json` holds the names of the vendor's headers and, for the codes users meet, a hint. A code also
says something by its digits: the first its kind, the next two the component that returned it.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SUCCESS = 0
UNINITIALIZED = 100001
REPEAT_INITIALIZE = 100002

_KINDS = {"1": "caller error", "2": "resource error", "3": "business error", "5": "internal error"}
_COMPONENTS = {"00": "ACL", "07": "runtime", "45": "graph engine", "48": "ACL", "61": "aclnn operators"}

# Codes that stand at the start of lines of the vendor's logs.
_MESSAGE_CODES = {
    "EL0003": "an argument is invalid",
    "EL0004": "device or host memory could not be allocated",
    "EZ9999": "an inner error of the vendor's software; the lines after it say more",
}
_MESSAGE_GROUPS = {
    "EE1": "runtime, caused by the caller",
    "EE": "runtime",
    "EH": "host interface",
    "EL": "runtime",
    "EZ": "inner error",
}

# Values after `retCode=` in the vendor's logs: codes of the runtime's inside.
_INNER_CODES = {0x26: "AI core exception", 0x7020014: "the driver could not be opened"}


@dataclass(frozen=True)
class Code:
    """A return code: its name, what it means, and what to do. Unknown codes have no name."""

    code: int
    name: str | None
    meaning: str
    hint: str | None = None
    since: str | None = None


def lookup(code: int) -> Code:
    """Return what is known of ``code``; for a code of no table what its digits say."""
    if code == SUCCESS:
        return Code(code, "ACL_SUCCESS", "success")
    row = _table().get(code)
    if row is None:
        return Code(code, None, f"not in the table of this version ({_by_digits(code)})")
    words = re.sub(r"^ACL(NN)?_(ERROR|ERR)(_RT|_GE)?_", "", row["name"]).replace("_", " ").lower()
    return Code(code, row["name"], f"{words} ({_by_digits(code)})", row.get("hint"), row.get("since"))


def by_name(name: str) -> list[Code]:
    """Return the codes whose name is ``name``, or else contains it, in any case."""
    wanted = name.upper()
    exact = [code for code, row in _table().items() if row["name"] == wanted]
    return [lookup(code) for code in exact or [code for code, row in _table().items() if wanted in row["name"]]]


def explain_line(line: str) -> list[str]:
    """Return what the codes in one line of a log or of an error message mean."""
    found = []
    for digits in re.findall(r"(?<![\w.])\d{6}(?![\w.]*\w)", line):
        known = lookup(int(digits))
        if known.name is not None:
            found.append(f"{digits} {known.name}: {known.meaning}" + (f". {known.hint}" if known.hint else ""))
    for code in re.findall(r"\bE[EHLZ]\d{4}\b", line):
        group = _MESSAGE_GROUPS.get(code[:3]) or _MESSAGE_GROUPS[code[:2]]
        found.append(f"{code}: {_MESSAGE_CODES.get(code, group)}")
    for inner in re.findall(r"retCode=(0x[0-9a-fA-F]+)", line):
        found.append(f"retCode {inner}: {_INNER_CODES.get(int(inner, 16), 'no public meaning')}")
    return found


def known_codes() -> list[int]:
    """Return every code of the table, ascending."""
    return sorted(_table())


def _by_digits(code: int) -> str:
    digits = f"{code:06d}"
    kind, component = _KINDS.get(digits[0]), _COMPONENTS.get(digits[1:3])
    if len(digits) != 6 or kind is None:
        return "not of the form of ACL's codes"
    return f"{kind}, {component}" if component else kind


@cache
def _table() -> dict[int, dict[str, str]]:
    text = (files(__package__) / "error_codes.json").read_text(encoding="utf-8")
    return {int(code): row for code, row in json.loads(text).items()}
