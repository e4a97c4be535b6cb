"""Sequences of different lengths: padding and packing."""

from ..decomp import sequence as composed
from ..table import op

op(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
    composite=composed.pack_padded_sequence,
    variants="function",
)
op(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) "
    "-> (Tensor, Tensor)",
    composite=composed.pad_packed_sequence,
    variants="function",
)
op(
    'pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side="right") '
    "-> Tensor",
    composite=composed.pad_sequence,
    variants="nn",
)
