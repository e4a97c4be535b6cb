"""The dispatcher of MindTorch: keys, schemas, the op table, meta functions, and the call path.

Importing the package declares nothing; `mindtorch_dispatch.ops` declares the operators.
"""

from .__about__ import __version__
from .assembly import assemble
from .call import aten
from .extend.dispatcher import current_dispatch_keyset, dispatch, redispatch
from .extend.registry import registry
from .keys import DispatchKey, DispatchKeySet
from .table import CORE, DYNAMIC, op, register_kernel

assemble()

__all__ = [
    "CORE",
    "DYNAMIC",
    "DispatchKey",
    "DispatchKeySet",
    "__version__",
    "aten",
    "current_dispatch_keyset",
    "dispatch",
    "op",
    "redispatch",
    "register_kernel",
    "registry",
]
