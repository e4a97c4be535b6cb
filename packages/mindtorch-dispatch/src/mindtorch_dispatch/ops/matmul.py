"""Matrix products."""

from ..apart import COLUMN, COPIED, ELEMENTWISE, NOTHING_SHARED, PARTLY, Apart
from ..decomp import einsum as summed
from ..decomp import matmul as composed
from ..meta import matmul as rules
from ..meta.grouped import grouped_mm
from ..table import CORE, op

_SCALE = "*, Scalar beta=1, Scalar alpha=1"

op("mm(Tensor self, Tensor mat2) -> Tensor", rules.mm, tags={CORE})
op("bmm(Tensor self, Tensor mat2) -> Tensor", rules.bmm, tags={CORE})
op("mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", composite=composed.accelerator_only, out=True)
op("bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", composite=composed.accelerator_only, out=True)
op("mv(Tensor self, Tensor vec) -> Tensor", rules.mv)
op("dot(Tensor self, Tensor tensor) -> Tensor", rules.dot)
op("vdot(Tensor self, Tensor other) -> Tensor", rules.dot)
op(f"addmm(Tensor self, Tensor mat1, Tensor mat2, {_SCALE}) -> Tensor", rules.addmm, tags={CORE})
op(f"baddbmm(Tensor self, Tensor batch1, Tensor batch2, {_SCALE}) -> Tensor", rules.baddbmm, tags={CORE})
op(
    f"addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, {_SCALE}) -> Tensor",
    composite=composed.accelerator_only,
    out=True,
)
op(
    f"baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, {_SCALE}) -> Tensor",
    composite=composed.accelerator_only,
    out=True,
)
op(
    f"_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, {_SCALE}, bool use_gelu=False) -> Tensor",
    composite=composed.addmm_activation,
    out=True,
)
op(f"addbmm(Tensor self, Tensor batch1, Tensor batch2, {_SCALE}) -> Tensor", rules.addbmm)
op(f"addmv(Tensor self, Tensor mat, Tensor vec, {_SCALE}) -> Tensor", rules.addmv)
op(f"addr(Tensor self, Tensor vec1, Tensor vec2, {_SCALE}) -> Tensor", rules.addr)
op("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", rules.cross, variants="function")
op(
    "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, "
    "int unroll_dim=1) -> Tensor",
    rules.trilinear,
    variants="function",
)

op("outer(Tensor self, Tensor vec2) -> Tensor", composite=composed.outer, out=True, apart=Apart(PARTLY, {0: COLUMN}))
op("ger(Tensor self, Tensor vec2) -> Tensor", composite=composed.outer, out=True, apart=Apart(PARTLY, {0: COLUMN}))
op("matmul(Tensor self, Tensor other) -> Tensor", composite=composed.matmul, out=True)
op("linalg_matmul(Tensor self, Tensor other) -> Tensor", composite=composed.matmul, variants="function", out=True)
op(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    composite=composed.linear,
    variants="nn",
    out=True,
    apart=Apart("", {2: COPIED}),
)
op(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    composite=composed.bilinear,
    variants="function",
)
op("kron(Tensor self, Tensor other) -> Tensor", composite=composed.kron, out=True, apart=ELEMENTWISE)
op("inner(Tensor self, Tensor other) -> Tensor", composite=summed.inner, out=True, apart=summed.inner_apart)
op(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    composite=composed.cross,
    out=True,
    apart=NOTHING_SHARED,
)
op(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    composite=composed.vecdot,
    variants="function",
    out=True,
)
op(
    "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    composite=summed.tensordot,
    variants="function",
    out=True,
)
op(
    "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    composite=summed.einsum,
    variants="function",
)
op("chain_matmul(Tensor[] matrices) -> Tensor", composite=composed.chain_matmul, variants="function", out=True)
op("linalg_multi_dot(Tensor[] tensors) -> Tensor", composite=composed.multi_dot, variants="function", out=True)
op("_int_mm(Tensor self, Tensor mat2) -> Tensor", rules.int_mm, variants="function")
op(
    "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
    grouped_mm,
    variants="function",
)
