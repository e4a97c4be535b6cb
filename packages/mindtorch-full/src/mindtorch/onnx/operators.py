"""`torch.onnx.operators`: shapes as tensors, which an exporter could follow."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x: Any) -> Any:
    """Return the sizes of a tensor as a tensor."""
    return mindtorch._shape_as_tensor(x)


def reshape_from_tensor_shape(x: Any, shape: Any) -> Any:
    """Return the tensor in the shape that a tensor names."""
    return mindtorch.reshape(x, shape.tolist())


adopt(globals())
