"""`torch._numpy`: numpy's functions over tensors, with numpy's rules for types, axes and errors."""

from math import e, pi

from mindtorch._naming import adopt

from . import _dtypes, _funcs, _ufuncs, fft, linalg, random
from ._dtypes import *  # noqa: F403
from ._funcs import *  # noqa: F403
from ._getlimits import finfo, iinfo
from ._ndarray import array, asarray, ascontiguousarray, can_cast, from_dlpack, ndarray, newaxis, result_type
from ._ufuncs import *  # noqa: F403
from ._util import AxisError, UFuncTypeError

alltrue = _funcs.all  # type: ignore[attr-defined]
sometrue = _funcs.any  # type: ignore[attr-defined]
inf = float("inf")
nan = float("nan")
False_ = False
True_ = True

__all__ = [
    "AxisError",
    "False_",
    "True_",
    "UFuncTypeError",
    "alltrue",
    "array",
    "asarray",
    "ascontiguousarray",
    "can_cast",
    "e",
    "fft",
    "finfo",
    "from_dlpack",
    "iinfo",
    "inf",
    "linalg",
    "nan",
    "ndarray",
    "newaxis",
    "pi",
    "random",
    "result_type",
    "sometrue",
]
__all__ += _dtypes.__all__ + _funcs.__all__ + _ufuncs.__all__

adopt(globals())
