"""`functorch.dim`: dimensions as objects, which tensors are indexed with, reduced over and ordered by.

>>> from functorch.dim import dims
>>> i, j, k = dims()
>>> A, B = torch.ones(2, 3), torch.arange(12.0).reshape(3, 4)
>>> (A[i, k] * B[k, j]).sum(k).order(i, j)
tensor([[12., 15., 18., 21.],
        [12., 15., 18., 21.]])
"""

from mindtorch._naming import adopt
from mindtorch.func._rearrange import DimensionBindError as DimensionBindError

from ._arrangement import cat as cat
from ._arrangement import split as split
from ._arrangement import stack as stack
from ._indexing import index as index
from ._methods import softmax as softmax
from ._names import DimList as DimList
from ._names import dimlists as dimlists
from ._names import dims as dims
from ._tensor import Dim as Dim
from ._tensor import Tensor as Tensor
from ._tensor import _Tensor as _Tensor


class DimensionMismatchError(Exception):
    """Dimensions of different sizes where one is needed."""


adopt(globals(), "functorch.dim")
