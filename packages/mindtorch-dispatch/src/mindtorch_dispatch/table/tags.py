"""`torch.Tag`: what is known of an operator beside its schema, by torch's own list."""

from __future__ import annotations

import enum
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from ..schema import Schema


class Tag(enum.Enum):
    """A property of an operator that tools ask for.

    >>> torch.Tag.pointwise in torch.ops.aten.add.Tensor.tags
    True
    """

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19

    def __int__(self) -> int:
        return self.value


Tag.__module__ = "torch"


_BY_HAND = frozenset(
    "get_gradients quantized_gru.data quantized_gru.data_legacy quantized_gru.input quantized_gru.input_legacy"
    " quantized_lstm.data quantized_lstm.data_legacy quantized_lstm.input quantized_lstm.input_legacy".split()
)
"""Operators of `aten` that are not in torch's list of native functions: nothing is known of them."""


@cache
def _table() -> dict[str, frozenset[str]]:
    text = files("mindtorch_dispatch.table").joinpath("tags.toml").read_text(encoding="utf-8")
    return {tag: frozenset(names.split()) for tag, names in tomllib.loads(text).items()}


def built_in_tags(schema: Schema) -> list[Tag]:
    """Return the tags of a built-in operator, in torch's order."""
    name = schema.qualified_name.removeprefix("aten::")
    if name in _BY_HAND:
        return []
    found = {Tag[tag] for tag, names in _table().items() if name in names} | {Tag.pt2_compliant_tag}
    if schema.out_arguments:
        found.add(Tag.out)
    elif schema.is_inplace and name.partition(".")[0].endswith("_"):
        found.add(Tag.inplace)
    return sorted(found, key=int)


def read_tags(tags: Any) -> tuple[Tag, ...]:
    """Return the tags a program gave, one or several; torch's TypeError for what is none."""
    given = (tags,) if isinstance(tags, Tag) else tuple(tags)
    for one in given:
        if not isinstance(one, Tag):
            raise TypeError(f"tags must be torch.Tag, got {type(one)}")
    return given
