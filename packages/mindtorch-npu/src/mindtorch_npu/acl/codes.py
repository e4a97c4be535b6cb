"""What the vendor's return codes mean.

The table `error_codes.json` holds the names of the vendor's headers and, for the codes users meet, a hint. A code also
says something by its digits: the first its kind, the next two the component that returned it.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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

# Codes that torch_npu puts into its errors: ERR, the part of it, and the cause.
_PARTS = {"00": "the framework", "01": "operators", "02": "distributed", "03": "graphs", "04": "profiler"}
_CAUSES = {
    "001": "a wrong parameter", "002": "a wrong type", "003": "a wrong value", "004": "a wrong pointer",
    "005": "an internal error", "006": "memory", "007": "not supported", "008": "not found", "009": "not available",
    "010": "a call of the system", "011": "a time-out", "012": "no permission", "100": "a call of ACL failed",
    "200": "a call of HCCL failed", "300": "a call of the graph engine failed",
}  # fmt: skip

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


def search(word: str) -> tuple[list[Code], list[str]]:
    """Return the codes that a word means, and what it means beyond the table.

    A word is a number, the beginning of one, a name or a part of one, a code of the vendor's logs, or a value after
    `retCode=`. Both lists are empty for a word that means nothing here.
    """
    if word.isdecimal():
        known = lookup(int(word))
        begins = [lookup(code) for code in known_codes() if str(code).startswith(word)] if len(word) < 6 else []
        return (begins or [known]) if known.name is None else [known], []
    if re.fullmatch(r"-\d+", word):
        return [lookup(int(word))], []
    if re.fullmatch(r"0x[0-9a-fA-F]+", word):
        return [], explain_line(f"retCode={word}") if int(word, 16) in _INNER_CODES else []
    logged = re.fullmatch(r"E[EHLZ]\d{0,4}X*", word.upper())
    if logged is not None:
        known_texts = [f"{code}: {text}" for code, text in _MESSAGE_CODES.items() if code.startswith(word.upper())]
        return [], known_texts or [
            f"{word.upper()}: {_MESSAGE_GROUPS.get(word.upper()[:3]) or _MESSAGE_GROUPS[word.upper()[:2]]}"
        ]
    framework = re.fullmatch(r"ERR(\d{2})(\d{3})", word.upper())
    if framework is not None and framework.group(1) in _PARTS and framework.group(2) in _CAUSES:
        return [], [f"{word.upper()}: {_PARTS[framework.group(1)]}, {_CAUSES[framework.group(2)]}"]
    return by_name(word), []


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
    text = Path(__file__).with_name("error_codes.json").read_text(encoding="utf-8")
    return {int(code): row for code, row in json.loads(text).items()}
