"""`torch.nested._internal.nested_tensor`: no tensor is a `NestedTensor` here, so no ragged size is ever registered."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.utils.weak import WeakTensorKeyDictionary

__all__: list[str] = []

_tensor_symint_registry: Any = WeakTensorKeyDictionary()

adopt(globals())
