"""Orthogonal factors."""

from ..decomp import qr as composed
from ..meta import qr as rules
from ..meta.packs import pack
from ..table import op

op(
    'linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)',
    rules.qr,
    pack=pack("linalg_qr", "Q R"),
    variants="function",
)
op("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", composite=composed.qr, pack=pack("qr", "Q R"), out=True)
op("geqrf(Tensor self) -> (Tensor a, Tensor tau)", rules.geqrf, pack=pack("geqrf", "a tau"))
op("linalg_householder_product(Tensor input, Tensor tau) -> Tensor", rules.householder_product, variants="function")
op("orgqr(Tensor self, Tensor input2) -> Tensor", composite=composed.orgqr, out=True)
op("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor", rules.ormqr)
