"""What an operator refuses in its first phase, from the vendor's tables: ranks, element types, formats, layouts, shapes.

The tables say what one argument may be; the functions here also look at how arguments fit each other. Nothing reads the
device's bytes: at this point they may not have been computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from mindtorch_npu.aclnn import limits, signatures
from mindtorch_npu.simulator import kernels
from mindtorch_npu.simulator.descriptors import (
    INVALID,
    NOT_CONTIGUOUS,
    NULL_POINTER,
    Numbers,
    TensorDescriptor,
)
from mindtorch_npu.simulator.dtypes import CODES, numpy_dtype
from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.rules import CONVERTING, MAY_BE_NULL, RANKS, RULES, SAME_TYPE

MOST_DIMENSIONS = 8
PLAIN_FORMATS = {-1, 0, 1, 2, 16, 27, 30, 35, 47}
"""Formats whose elements lie as strides say: ND, and the names of image layouts."""
RANKS_OF_FORMATS = {0: 4, 1: 4, 16: 4, 27: 5, 30: 5, 47: 3, 35: 2, 3: 5, 29: None, 4: None, 32: 6, 33: None}
"""Dimensions of a format's view or storage; None where it varies."""
IMAGE_FORMATS = {3: {47}, 4: {0, 1}, 5: {30, 27}}
"""What operators on images accept by rank; ND is refused."""
IMAGE_OPERATORS = ("aclnnConvolution", "aclnnMaxPool", "aclnnAvgPool", "aclnnAdaptive", "aclnnUpsample")


def refuse(name: str, text: str, code: int = INVALID) -> DeviceFault:
    """Return the refusal of an operator's first phase."""
    return DeviceFault(code, f"EZ1001: {name}: {text}")


@cache
def ranks(text: str | None) -> frozenset[int] | None:
    """Return the numbers of dimensions that a table's entry allows, None where it says nothing of them."""
    if not text:
        return None
    found: set[int] = set()
    if text[0] in "([" and not re.fullmatch(r"\[\d+,\d+\]", text):
        for group in re.findall(r"[(\[]([^)\]]*)[)\]]", text):
            found.add(len([part for part in group.split(",") if part.strip()]))
        return frozenset(found)
    for part in re.split(r"[,/]", text.strip("[]") if text[0] != "[" else text.strip("[]").replace(",", "-")):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if match is None:
            return None
        found |= set(range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1))
    return frozenset(found)


def tensors(value: object) -> Iterator[TensorDescriptor]:
    """Yield the tensors of an argument: itself, or a list's elements."""
    for made in value if isinstance(value, list) else (value,):
        if isinstance(made, TensorDescriptor):
            yield made


def check(name: str, arguments: dict[str, Any]) -> None:
    """Refuse a call that the vendor's documents exclude; DeviceFault with the code of the first phase."""
    facts = limits().get(name, {}).get("args", {})
    outputs = kernels.table()[name].outputs
    _check_missing(name, arguments, facts)
    for label, value in arguments.items():
        entry = facts.get(label, {})
        if isinstance(value, list) and not isinstance(value, Numbers) and None in value:
            raise refuse(name, f"an element of {label} is NULL", NULL_POINTER)
        for made in tensors(value):
            # One number instead of a tensor is what a loss is reduced to, whatever the table says of the unreduced one.
            reduced = label in outputs and not made.shape and arguments.get("reduction") in (1, 2)
            _check_one(name, label, made, {**entry, "rank": None} if reduced else entry, written=label in outputs)
    _check_overlaps(name, arguments, outputs)
    _check_types_together(name, arguments, outputs)
    for rule in RULES.get(name, ()):
        text = rule(arguments)
        if text:
            raise refuse(name, text)


def check_addresses(name: str, arguments: dict[str, Any]) -> None:
    """Refuse addresses that were given to an executor after its first phase, as that would have refused them."""
    for label, value in arguments.items():
        for made in tensors(value):
            if made.data == 0 and 0 not in made.shape:
                raise refuse(name, f"{label} has elements but no address", NULL_POINTER)
    _check_overlaps(name, arguments, kernels.table()[name].outputs)


def _check_missing(name: str, arguments: dict[str, Any], facts: dict[str, Any]) -> None:
    optional = MAY_BE_NULL.get(name, frozenset())
    for text, label in signatures()[name]["params"][:-2]:
        if arguments[label] is not None or "aclTensor" not in text or label in optional or "Optional" in label:
            continue
        if facts.get(label, {}).get("io") == "in?":
            continue
        raise refuse(name, f"{label} is NULL", NULL_POINTER)


def _check_type(name: str, label: str, dtype: int, entry: dict[str, Any]) -> None:
    if dtype not in CODES:
        raise refuse(name, f"{label} has the element type {dtype}, which there is not")
    allowed, found = entry.get("dtypes"), CODES[dtype][0]
    if allowed and found not in allowed:
        raise refuse(name, f"{label} is {found}, allowed are {', '.join(allowed)}")


def _check_one(name: str, label: str, made: TensorDescriptor, entry: dict[str, Any], written: bool) -> None:
    rank = len(made.shape)
    if rank > MOST_DIMENSIONS:
        raise refuse(name, f"{label} has {rank} dimensions, at most {MOST_DIMENSIONS} are allowed")
    allowed = ranks(RANKS.get((name, label)) or entry.get("rank"))
    # "0" stands for a tensor without elements, too, which says that an argument is left out.
    absent = allowed is not None and 0 in allowed and 0 in made.shape
    if allowed is not None and rank not in allowed and not absent:
        raise refuse(name, f"{label} has {rank} dimensions, allowed are {entry['rank']}")
    _check_type(name, label, made.dtype, entry)
    _check_format(name, label, made)
    if not made.contiguous:
        if entry.get("strided") is False:
            raise refuse(name, f"{label} must be contiguous")
        if not made.in_storage:
            text = f"ViewShape overlap: {label} reaches beyond its storage"
            raise DeviceFault(NOT_CONTIGUOUS, f"EZ9999: {name}: {text}")
        if written and made.repeats:
            raise refuse(name, f"{label} is written, but several of its elements are one in memory")
    elif not made.in_storage:
        raise refuse(name, f"{label} reaches beyond its storage")
    if made.data == 0 and 0 not in made.shape:
        raise refuse(name, f"{label} has elements but no address", NULL_POINTER)


def _check_format(name: str, label: str, made: TensorDescriptor) -> None:
    if made.form not in RANKS_OF_FORMATS and made.form not in PLAIN_FORMATS:
        raise refuse(name, f"{label} has the format {made.form}, which there is not")
    wanted = RANKS_OF_FORMATS.get(made.form)
    # A private format names how the storage lies: its dimensions are those of the storage.
    dimensions = len(made.shape) if made.form in PLAIN_FORMATS else len(made.storage)
    if wanted is not None and dimensions != wanted:
        raise refuse(name, f"{label} has {dimensions} dimensions, format {made.form} has {wanted}")
    if made.form not in PLAIN_FORMATS:
        raise refuse(name, f"{label} has the private format {made.form}")
    images = IMAGE_FORMATS.get(len(made.shape))
    if images is not None and name.startswith(IMAGE_OPERATORS) and made.form not in images:
        raise refuse(name, f"{label} has {len(made.shape)} dimensions and the format {made.form}")


def _check_overlaps(name: str, arguments: dict[str, Any], outputs: tuple[str, ...]) -> None:
    """Refuse an output that shares some of its bytes with another tensor, but not all of them in the same places."""
    spans = []
    for label, value in arguments.items():
        for made in tensors(value):
            if 0 not in made.shape:
                first, end = made.reach
                size = numpy_dtype(made.dtype).itemsize
                spans.append((made.data + first * size, made.data + end * size, label in outputs, label, made))
    spans.sort(key=lambda span: span[0])
    for place, (_, end, written, label, made) in enumerate(spans):
        for other_start, _, other_written, other_label, other in spans[place + 1 :]:
            if end <= other_start:
                break
            in_place = label != other_label and same_elements(made, other)
            if (written or other_written) and not in_place and share_bytes(made, other):
                raise refuse(name, f"{label} and {other_label} overlap")


def same_elements(made: TensorDescriptor, other: TensorDescriptor) -> bool:
    """True when two tensors are the same elements in the same order, as an operator in place has them."""
    if made.shape != other.shape or _start(made) != _start(other):
        return False
    sizes = (numpy_dtype(made.dtype).itemsize, numpy_dtype(other.dtype).itemsize)
    pairs = zip(made.shape, made.strides, other.strides, strict=True)
    return all(extent == 1 or step * sizes[0] == other_step * sizes[1] for extent, step, other_step in pairs)


def _start(made: TensorDescriptor) -> int:
    return int(made.data + made.offset * numpy_dtype(made.dtype).itemsize)


class _Bytes:
    """Where a tensor's elements are, for numpy, which looks at addresses alone."""

    def __init__(self, made: TensorDescriptor) -> None:
        size = numpy_dtype(made.dtype).itemsize
        self.__array_interface__ = {
            "shape": made.shape,
            "typestr": f"|V{size}",
            "strides": tuple(step * size for step in made.strides),
            "data": (_start(made), True),
            "version": 3,
        }


def share_bytes(made: TensorDescriptor, other: TensorDescriptor) -> bool:
    """True when two tensors have bytes in common; tensors that are too entangled to tell count as apart."""
    try:
        return bool(np.shares_memory(np.asarray(_Bytes(made)), np.asarray(_Bytes(other)), max_work=10_000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False


def _type_of(made: Any) -> Any:
    return numpy_dtype(made.dtype)


def _check_types_together(name: str, arguments: dict[str, Any], outputs: tuple[str, ...]) -> None:
    for group in SAME_TYPE.get(name, ()):
        found = {label: made.dtype for label in group for made in tensors(arguments.get(label))}
        if len(set(found.values())) > 1:
            shown = ", ".join(f"{label} is {CODES[code][0]}" for label, code in found.items())
            raise refuse(name, f"these must have one type: {shown}")
    if name not in CONVERTING:
        return
    kinds = [
        _type_of(made).kind
        for label, value in arguments.items()
        if label not in outputs and label not in ("condition", "mask", "index", "indices")
        for made in tensors(value)
    ]
    if name == "aclnnAbs":  # a complex number's is real
        kinds = ["f" if kind == "c" else kind for kind in kinds]
    strongest = max((_order(kind) for kind in kinds), default=0)
    for label in outputs:
        for made in tensors(arguments[label]):
            if _order(_type_of(made).kind) < strongest:
                raise refuse(name, f"the result cannot be converted to {label}'s {CODES[made.dtype][0]}")


def _order(kind: str) -> int:
    """Return where a kind of element stands: what stands lower is not converted to."""
    orders = {"b": 0, "u": 1, "i": 1, "c": 3}
    return orders.get(kind, 2)
