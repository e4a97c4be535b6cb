"""The Kullback-Leibler divergence, by a table of pairs of laws."""

from mindtorch._naming import adopt

from . import _same_law, _two_laws
from ._same_law import _kl_expfamily_expfamily as _kl_expfamily_expfamily
from ._table import _KL_MEMOIZE as _KL_MEMOIZE
from ._table import _KL_REGISTRY as _KL_REGISTRY
from ._table import kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]

FORMULAS = (_same_law, _two_laws)

adopt(globals())
