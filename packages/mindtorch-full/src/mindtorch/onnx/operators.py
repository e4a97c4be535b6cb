"""`torch.onnx.operators`: shapes as tensors, which an exporter could follow."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x: Any) -> Any:
    """Return the sizes of a tensor as a tensor.

    >>> torch.onnx.operators.shape_as_tensor(torch.ones(2, 3))
    tensor([2, 3])
    """
    return mindtorch._shape_as_tensor(x)


def reshape_from_tensor_shape(x: Any, shape: Any) -> Any:
    """Return the tensor in the shape that a tensor names.

    >>> torch.onnx.operators.reshape_from_tensor_shape(torch.arange(6), torch.tensor([2, 3]))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    return mindtorch.reshape(x, shape.tolist())


adopt(globals())
