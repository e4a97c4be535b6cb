"""Help for tests: comparing values, making random tensors."""

from mindtorch._naming import adopt

from . import _utils as _utils
from ._comparison import assert_allclose, assert_close
from ._creation import make_tensor
from ._file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]

adopt(globals())
