"""The order in which overloads are tried and listed.

Alphabetical by C++ text, except that of two overloads that differ only in their types, the one with the narrower
types goes first: a Tensor before a number, an int before a list of ints, a list of tensors last.
"""

from __future__ import annotations

from collections.abc import Sequence

from .signature import PythonSignature, sort_text


def sort_signatures(signatures: Sequence[PythonSignature]) -> list[PythonSignature]:
    """The signatures in the order torch tries them; deprecated ones last."""
    if len(signatures) < 2:
        return list(signatures)
    rest = sorted(signatures, key=sort_text)
    types = [_types(signature) for signature in rest]
    wider = {i: {j for j, b in enumerate(types) if _yields(a, b)} for i, a in enumerate(types)}
    order = [i for i in wider if not wider[i]]
    for i in order:
        for j in list(wider):
            if i in wider[j]:
                wider[j].discard(i)
                if not wider[j]:
                    order.append(j)
    ranked = [rest[i] for i in order]
    return [s for s in ranked if not s.deprecated] + [s for s in ranked if s.deprecated]


def _yields(a: list[str], b: list[str]) -> bool:
    """Whether a signature of types `a` has to be tried after one of types `b`."""
    if len(a) != len(b) or a == b:
        return False
    return all(x == y or _type_yields(x, y) for x, y in zip(a, b, strict=True))


def _types(signature: PythonSignature) -> list[str]:
    return [str(p.type) for p in signature.parameters if not (p.keyword_only and p.name == "out")]


def _type_yields(a: str, b: str) -> bool:
    if a == "Scalar" or a == "Scalar?":
        return b == a.replace("Scalar", "Tensor")
    if a == "int[]":
        return b in ("int", "int?")
    if a == "Tensor[]":
        return "[]" in b
    if a == "SymInt[]":
        return b == "int[]"
    return a in ("SymInt", "int") and b == "Tensor"
