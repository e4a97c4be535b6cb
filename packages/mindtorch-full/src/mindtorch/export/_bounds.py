"""Which sizes vary, and torch's errors where a program takes less of them than was said."""

from __future__ import annotations

from typing import Any

from mindtorch._dynamo.exc import UserErrorType
from mindtorch.export._runs import Root
from mindtorch.export._sizes import Symbol, linear
from mindtorch.export._specifications import MORE, Varying, refused
from mindtorch.export.dynamic_shapes import Dim, _DimHint, _DimHintType, _int_oo
from mindtorch.fx.experimental.symbolic_shapes import ConstraintViolationError


def roots_of(items: list[Varying]) -> dict[str, Root]:
    """Return the sizes that vary on their own, by name, with the dimensions that follow each."""
    found: dict[str, Root] = {}
    for place, item in enumerate(items):
        times, plus = item.linear
        hint, rest = divmod(item.size - plus, times)
        low, high = item.bounds
        if item.root not in found:
            found[item.root] = Root(item.root, hint, [], low, high)
        root = found[item.root]
        if rest or hint != root.hint:
            name = item.dim.__name__ if isinstance(item.dim, Dim) else item.source
            first = (root.members or items[place : place + 1])[0]
            raise refused(
                UserErrorType.INVALID_INPUT,
                f"Expected input {item.source} to be equal to {name}, where {first.root} = {first.size}, but got {item.size}",
            )
        _refuse_hint(item)
        if item.size not in (0, 1) and not low <= hint <= high:
            raise ConstraintViolationError(f"{hint} not in range [{low}, {high}]{MORE}")
        root.members.append(item)
        root.fixed = item.size in (0, 1)
    return found


def refuse(roots: dict[str, Root], given: dict[str, tuple[int, Any]]) -> None:
    """Raise where the program takes less than was said."""
    names, lines, fixes = [], [], []
    for root in roots.values():
        member = root.members[0]
        named = isinstance(member.dim, Dim)
        said = f"{root.name} = {member.source}" if named else member.source
        if root.fixed and not member.may_be_fixed:
            names.append(root.name)
            lines.append(
                f"You marked {root.name} as dynamic but your code specialized it to be a constant ({root.hint}). If you're "
                "using mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it "
                "with either Dim.STATIC or Dim.AUTO."
            )
            fixes += [f"{root.name} = {root.hint}"] if named else []
        elif root.tie is not None and named:
            other, times, plus = root.tie
            first = roots[other]
            formula = str(linear(Symbol(other), times, plus))
            names.append(root.name)
            if formula == other:
                lines.append(f"The values of {said} and {other} = {first.members[0].source} must always be equal.")
            else:
                lines.append(
                    f"The values of {said} must always be related to the values of {other} = {first.members[0].source} by "
                    f"{root.name} = {formula}."
                )
            fixes.append(f"{root.name} = {formula}")
        elif named and not root.fixed:
            _bounds(root, given[root.name], (names, lines, fixes))
    if lines:
        text = f'Constraints violated ({", ".join(names)})! For more information, run with TORCH_LOGS="+dynamic".'
        text += "".join(f"\n  - {line}" for line in lines)
        text += "\nSuggested fixes:" + "".join(f"\n  {fix}" for fix in fixes) if fixes else ""
        raise refused(UserErrorType.CONSTRAINT_VIOLATION, text)


def _refuse_hint(member: Varying) -> None:
    if isinstance(member.dim, _DimHint) and member.dim.type is _DimHintType.DYNAMIC and member.size in (0, 1):
        name = member.path.split("[")[0]
        raise ValueError(
            "Found the following conflicts between user-specified ranges and inferred ranges from model tracing:\n- Received "
            f"user-specified dim hint Dim.DYNAMIC(min={member.dim.min}, max={member.dim.max}), but export 0/1 specialized due "
            f"to hint of {member.size} for dimension inputs['{name}']{member.path[len(name) :]}.shape[{member.place}]."
        )


def _bounds(root: Root, given: tuple[int, Any], found: tuple[list[str], list[str], list[str]]) -> None:
    names, lines, fixes = found
    source = root.members[0].source
    low, high = given
    said = f"{root.name} <= {high}" if high != _int_oo else ""
    if low > 2:
        said = f"{low} <= {said or root.name}"
    start = f"Not all values of {root.name} = {source} in the specified range {said}{' ' if said else ''}satisfy the "
    if (root.low, root.high) != given:
        top = root.high if root.high != _int_oo else "IntInfinity()"
        lines.append(f"{start}generated guard {max(root.low, 2)} <= {source} and {source} <= {top}")
        limits = [f"min={root.low}"] if root.low > 2 else []
        limits += [f"max={root.high}"] if root.high != _int_oo else []
        fixes.append(f"{root.name} = Dim('{root.name}', {', '.join(limits)})")
    lines += [f"{start}generated guard {source} != {hole}." for hole in root.holes]
    if root.step > 1:
        step, rest = root.step, root.hint % root.step
        more = f" + {rest}" if rest else ""
        lines.append(f"{start}generated guard {source} == ({step}*({source} // {step})){more}.")
        inner = f"_{root.name}"
        fixes += [f"{inner} = Dim('{inner}', min=1, max=oo)", f"{root.name} = {step}*{inner}{more}"]
    if (root.low, root.high) != given or root.holes or root.step > 1:
        names.append(root.name)
