"""Products with weights of few bits."""

from ..decomp import packed_weights as composed
from ..table import op

op(
    "_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
    composite=composed.int8_product,
    variants="function",
)
op(
    "_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor",
    composite=composed.int4_packed,
    variants="function",
)
op(
    "_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
    composite=composed.int4_product,
    variants="function",
)
