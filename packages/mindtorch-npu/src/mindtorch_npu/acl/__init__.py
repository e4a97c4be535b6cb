"""Access to the vendor's runtime through its Python module `acl`: finding it, its return codes, and its errors."""

from mindtorch_npu.acl.codes import Code, lookup
from mindtorch_npu.acl.errors import AclError, check
from mindtorch_npu.acl.loader import Absence, AclNotFoundError, absence, load

__all__ = ["Absence", "AclError", "AclNotFoundError", "Code", "absence", "check", "load", "lookup"]
