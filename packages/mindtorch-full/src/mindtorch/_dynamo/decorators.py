"""`torch._dynamo.decorators`: what files of torch name, which keep marks of dimensions beside tensors."""

from dataclasses import dataclass

from mindtorch._naming import adopt

__all__: list[str] = []


@dataclass(frozen=True, slots=True)
class _DimRange:
    """Between which extents a dimension was said to vary."""

    dim: int
    min: int
    max: int


adopt(globals())
