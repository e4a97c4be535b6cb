"""Complex numbers and their parts."""

from ..decomp import complex as composed
from ..meta import complex as rules
from ..table import CORE, op

op("complex(Tensor real, Tensor imag) -> Tensor", rules.complex_of("complex"), variants="function", tags={CORE})
op("polar(Tensor abs, Tensor angle) -> Tensor", rules.complex_of("polar"), variants="function")
op("view_as_real(Tensor(a) self) -> Tensor(a)", rules.view_as_real, variants="function", tags={CORE})
op("view_as_complex(Tensor(a) self) -> Tensor(a)", rules.view_as_complex, variants="function", tags={CORE})
op("real(Tensor(a) self) -> Tensor(a)", composite=composed.real, variants="function")
op("imag(Tensor(a) self) -> Tensor(a)", composite=composed.imag, variants="function")
op("resolve_conj(Tensor(a) self) -> Tensor(a)", composite=composed.resolved, variants="function")
op("resolve_neg(Tensor(a) self) -> Tensor(a)", composite=composed.without_negative_bit, variants="function")
op("_conj_physical(Tensor self) -> Tensor", composite=composed.conjugated_copy, variants="function", out=True)
op("_conj(Tensor(a) self) -> Tensor(a)", composite=composed.conj_view)
op("_neg_view(Tensor(a) self) -> Tensor(a)", composite=composed.neg_view)
